// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/images"
)

// planTasks gives the task to as many nodes as may pull at the same time. (IMG-1.4)
func (p *planner) planTasks() {
	if p.overdue() {
		return
	}
	active := int32(0)
	for _, n := range p.nodes {
		if n.state == Active {
			active++
		}
	}
	free, held := p.plan.Parallelism-active, p.held(active)
	for i := range p.nodes {
		n := &p.nodes[i]
		switch {
		case n.state != NotSynced:
		case !p.secretsKnown:
			p.wait(n.Name, &rollout.Reason{Rule: RulePullSecrets, Message: "the pull secrets of the job are being copied to the namespace in which nodes find them"})
		case free <= 0:
			p.wait(n.Name, held)
		case p.full(n.NodeImage):
			p.wait(n.Name, &rollout.Reason{Rule: RuleTooManyImages, Limit: v1alpha1.MaxNodeImageImages, Observed: int32(len(n.Spec.Images)),
				Message: fmt.Sprintf("the node has tasks for %d images, and can have %d", len(n.Spec.Images), v1alpha1.MaxNodeImageImages)})
		default:
			p.plan.Assign = append(p.plan.Assign, p.assign(n.NodeImage))
			n.state = Active // in the status; plan.Nodes shows what was observed
			free--
		}
	}
}

// held is why the nodes wait that get no task.
func (p *planner) held(active int32) *rollout.Reason {
	if p.plan.Parallelism == 0 {
		return &rollout.Reason{Rule: rollout.RulePaused, Message: fmt.Sprintf("spec.parallelism is %s: the job is paused", p.Job.Spec.Parallelism)}
	}
	return &rollout.Reason{Rule: RuleParallelism, Limit: p.plan.Parallelism, Observed: active,
		Message: fmt.Sprintf("parallelism %d: as many nodes pull already", p.plan.Parallelism)}
}

// full tells whether a node cannot take the image, which is new to it.
func (p *planner) full(n *v1alpha1.NodeImage) bool {
	_, known := n.Spec.Images[p.plan.Image]
	return !known && len(n.Spec.Images) >= v1alpha1.MaxNodeImageImages
}

// assign gives the task to a node.
func (p *planner) assign(n *v1alpha1.NodeImage) Assignment {
	image := n.Spec.Images[p.plan.Image]
	image.SandboxConfig = p.Job.Spec.SandboxConfig // the last writer wins, also with none
	image.PullSecrets = p.withSecrets(image.PullSecrets)
	image.Tags = slices.Clone(image.Tags)
	i := slices.IndexFunc(image.Tags, func(t v1alpha1.ImageTagSpec) bool { return t.Tag == p.plan.Tag })
	if i < 0 {
		image.Tags = append(image.Tags, v1alpha1.ImageTagSpec{Tag: p.plan.Tag, PullPolicy: p.pullPolicy(n)})
		i = len(image.Tags) - 1
		if status := images.StatusOf(n, p.plan.Image, p.plan.Tag); status != nil {
			image.Tags[i].Version = status.Version // the node may have handled it
		}
	}
	task := &image.Tags[i]
	task.Version++
	task.CreatedAt = ptr.To(p.now())
	task.OwnerReferences = append(slices.Clone(task.OwnerReferences), images.TaskOwner(p.Job))
	slices.SortFunc(image.Tags, func(a, b v1alpha1.ImageTagSpec) int { return strings.Compare(a.Tag, b.Tag) })
	return Assignment{NodeImage: n, Name: p.plan.Image, Image: image}
}

// How long a finished task stays on a node, in seconds. The spread keeps the
// nodes from being cleaned all at once.
const (
	ttlReserve = 300
	ttlSpread  = 300

	neverDeadline  = 1800
	neverTTL       = 86400
	neverTTLSpread = 1200 // half of it shorter, half of it longer
)

// pullPolicy is that of a new task. (IMG-1.4)
func (p *planner) pullPolicy(n *v1alpha1.NodeImage) *v1alpha1.ImageTagPullPolicy {
	job := ptr.Deref(p.Job.Spec.PullPolicy, v1alpha1.PullPolicy{})
	timeout := ptr.Deref(job.TimeoutSeconds, v1alpha1.DefaultImagePullTimeoutSeconds)
	backoff := ptr.Deref(job.BackoffLimit, v1alpha1.DefaultImagePullBackoffLimit)
	policy := &v1alpha1.ImageTagPullPolicy{TimeoutSeconds: &timeout, BackoffLimit: &backoff}
	spread := func(below int32) int64 {
		return int64(images.Spread(below, string(p.Job.UID), n.Name))
	}
	if !p.always() {
		policy.ActiveDeadlineSeconds = ptr.To[int64](neverDeadline)
		policy.TTLSecondsAfterFinished = ptr.To(int32(neverTTL - neverTTLSpread/2 + spread(neverTTLSpread)))
		return policy
	}
	completion := &p.Job.Spec.CompletionPolicy
	policy.ActiveDeadlineSeconds = completion.ActiveDeadlineSeconds
	base := int64(timeout) * int64(backoff)
	switch {
	case completion.TTLSecondsAfterFinished != nil:
		base = int64(*completion.TTLSecondsAfterFinished)
	case completion.ActiveDeadlineSeconds != nil:
		base = *completion.ActiveDeadlineSeconds
	}
	base = min(max(base, 0), math.MaxInt32) // before adding: it may be any number
	policy.TTLSecondsAfterFinished = ptr.To(int32(min(base+ttlReserve+spread(ttlSpread), math.MaxInt32)))
	return policy
}
