// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"slices"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/images"
)

// planPulls decides about every task that is not finished, and then which of
// those that are due have their turn.
func (p *planner) planPulls() {
	slots := newSlots(p.Concurrency)
	var due []*task
	for _, t := range p.tasks {
		switch {
		case t.finished():
			t.status = *t.reported
		case p.settled(t):
		case t.pull != nil && t.pull.Running:
			slots.take(t)
		case p.due(t):
			due = append(due, t)
		}
	}
	if p.plan.ListImages {
		return
	}
	slots.assign(p, due)
}

// settled ends a task that has come to its end, and tells whether it has. A task
// that has not is reported as being pulled, from the first moment. (IMG-2.4, IMG-3.3)
func (p *planner) settled(t *task) bool {
	deadline := p.deadline(t)
	over := !deadline.IsZero() && !deadline.After(p.Now)
	switch {
	case t.pull != nil && t.pull.Succeeded:
		p.succeed(t, t.pull.ImageID, t.pull.Ended)
		return true
	case t.pull != nil && t.pull.Running:
		if over {
			p.plan.Cancel = append(p.plan.Cancel, Cancel{t.Task, v1alpha1.ImagePullMessageDeadline})
			p.fail(t, v1alpha1.ImagePullMessageDeadline, deadline)
			return true
		}
	default:
		if refusal := p.Filter.refuses(t); refusal != "" {
			p.fail(t, refusal, p.Now)
			return true
		}
		if image := p.listed(t); image != nil {
			p.succeed(t, image.GetId(), p.Now)
			return true
		}
		if p.hopeless(t, over, deadline) {
			return true
		}
	}
	p.pulling(t)
	if !deadline.IsZero() {
		p.requeueAt(deadline)
	}
	return false
}

// hopeless fails a task that no further attempt can help, and tells whether it did.
func (p *planner) hopeless(t *task, over bool, deadline time.Time) bool {
	_, err := images.ParseReference(reference(t.Task))
	switch {
	case over:
		p.fail(t, v1alpha1.ImagePullMessageDeadline, deadline)
	case err != nil:
		p.fail(t, err.Error(), p.Now)
	case t.pull != nil && t.pull.Failures > p.retries(t):
		p.failAfter(t, t.pull.Err, t.pull.Ended)
	default:
		return false
	}
	return true
}

// listed returns the image of a task among those of the node. It is nil if the node has none, or the registry has to be
// asked whether it is another by now. Runtimes list images by their full names. (IMG-3.3, IMG-1.14)
func (p *planner) listed(t *task) *criv1.Image {
	if t.spec.ImagePullPolicy == v1alpha1.ImagePullAlways {
		return nil
	}
	if p.Images == nil {
		p.plan.ListImages = true
		return nil
	}
	names := []string{reference(t.Task)}
	if r, err := images.ParseReference(names[0]); err == nil && r.Domain != "" {
		names = append(names, r.Full())
	}
	for _, image := range p.Images {
		for _, name := range names {
			if slices.Contains(image.GetRepoTags(), name) || slices.Contains(image.GetRepoDigests(), name) {
				return image
			}
		}
	}
	return nil
}

// due tells whether it is time for the next attempt.
func (p *planner) due(t *task) bool {
	if t.pull == nil || t.pull.Failures == 0 {
		return true
	}
	next := t.pull.Ended.Add(pause(t.pull.Failures))
	if !next.After(p.Now) {
		return true
	}
	p.requeueAt(next)
	p.wait(t.Task, t.pull.Ended, &rollout.Reason{Rule: ruleBackOff, Limit: int32(p.retries(t) + 1), Observed: int32(t.pull.Failures), Message: fmt.Sprintf(
		"attempt %d of %d is made in %v; the last one failed: %v", t.pull.Failures+1, p.retries(t)+1, next.Sub(p.Now), t.pull.Err)})
	return false
}

// start starts an attempt.
func (p *planner) start(t *task) {
	timeout := p.attemptTimeout(t)
	if deadline := p.deadline(t); !deadline.IsZero() {
		timeout = min(timeout, deadline.Sub(p.Now))
	}
	p.plan.Start = append(p.plan.Start, Start{
		Task: t.Task, Version: t.spec.Version, Reference: reference(t.Task), Timeout: timeout,
		Secrets: t.image.PullSecrets, Namespaces: p.Filter.passing(owningNamespaces(t.spec.OwnerReferences)), Sandbox: t.image.SandboxConfig,
	})
}

// reference is how the runtime is asked for the image of a task.
func reference(t Task) string { return images.TaskReference(t.Image, t.Tag) }

// The pauses between attempts, the first and the longest.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// pause is how long to wait after so many failures: 1 s, 2 s, 4 s, up to 30 s.
func pause(failures int) time.Duration {
	if failures > 5 {
		return lastPause
	}
	return min(firstPause<<max(failures-1, 0), lastPause)
}

// retries is how many attempts are made after the first one. (IMG-3.7)
func (p *planner) retries(t *task) int {
	limit := ptr.Deref(t.policy().BackoffLimit, v1alpha1.DefaultImagePullBackoffLimit)
	if limit < 0 {
		limit = v1alpha1.DefaultImagePullBackoffLimit
	}
	return int(min(limit, p.Limits.backoffLimit()))
}

// attemptTimeout is how long one attempt may take. (IMG-3.7)
func (p *planner) attemptTimeout(t *task) time.Duration {
	seconds := ptr.Deref(t.policy().TimeoutSeconds, 0)
	if seconds <= 0 {
		seconds = v1alpha1.DefaultImagePullTimeoutSeconds
	}
	return min(time.Duration(seconds)*time.Second, p.Limits.timeout())
}

// maxDeadline is more than a century, in seconds: as good as no limit, and far
// from what a time.Duration cannot hold.
const maxDeadline = 1 << 32

// deadline is when a task has to be finished, zero if it has no limit.
func (p *planner) deadline(t *task) time.Time {
	seconds := t.policy().ActiveDeadlineSeconds
	if seconds == nil || *seconds > maxDeadline {
		return time.Time{}
	}
	return p.begun(t).Add(time.Duration(max(*seconds, 0)) * time.Second)
}
