// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/images"
)

// planStatus fails the tasks that the node's agent has left alone for too long. If
// there are pods in place of agents, it says how far all tasks are. (IMG-2.4, IMG-2.6, IMG-4.3)
func (p *planner) planStatus() {
	status := p.NodeImage.Status.DeepCopy()
	p.planPulls(status)
	for _, name := range slices.Sorted(maps.Keys(p.spec.Images)) {
		for i := range p.spec.Images[name].Tags {
			task := &p.spec.Images[name].Tags[i]
			if message := p.overdue(status, name, task); message != "" {
				p.plan.Failed = append(p.plan.Failed, Failed{name, task.Tag, message, task.OwnerReferences})
				p.fail(status, name, task, message)
			}
		}
	}
	if p.PullPods == nil && len(p.plan.Failed) == 0 {
		return // the rest is the agent's
	}
	prune(status, &p.spec)
	images.CountTasks(status, &p.spec)
	late := p.PullPods != nil && apply.IsLate(status.ObservedGeneration, p.NodeImage)
	if late || !equality.Semantic.DeepEqual(status, &p.NodeImage.Status) {
		if p.PullPods != nil {
			status.ObservedGeneration = p.NodeImage.Generation // else it is what the agent has seen
		}
		p.plan.Status = status
	}
}

// How long the agent of a node may take.
const (
	// reserve is what an agent has beyond the deadline of a task.
	reserve = time.Minute
	// absence is how long the agent of a node is waited for that is not ready,
	// or is not there.
	absence = time.Minute
)

// overdue says what is wrong with a task that has taken too long; empty if
// it has time, or is finished.
func (p *planner) overdue(status *v1alpha1.NodeImageStatus, name string, task *v1alpha1.ImageTagSpec) string {
	reported := currentState(status, name, task)
	current := reported != nil
	if current && reported.CompletionTime != nil {
		return ""
	}
	silence, deadline := p.response(task), end(task)
	switch {
	case !current && !silence.After(p.Now):
		return v1alpha1.ImagePullMessageNoResponse
	case !deadline.IsZero() && !deadline.After(p.Now):
		return v1alpha1.ImagePullMessageDeadline
	}
	if !current {
		p.requeueAt(silence)
	}
	if !deadline.IsZero() {
		p.requeueAt(deadline)
	}
	return ""
}

// maxDeadline is more than a century, in seconds: as good as no limit, and far
// from what a time.Duration cannot hold.
const maxDeadline = 1 << 32

// end is until when a task must be finished; zero if it has no deadline.
func end(task *v1alpha1.ImageTagSpec) time.Time {
	policy := ptr.Deref(task.PullPolicy, v1alpha1.ImageTagPullPolicy{})
	if policy.ActiveDeadlineSeconds == nil || *policy.ActiveDeadlineSeconds > maxDeadline {
		return time.Time{}
	}
	return task.CreatedAt.Add(time.Duration(*policy.ActiveDeadlineSeconds)*time.Second + reserve)
}

// response is until when the agent must have reported something about a task.
func (p *planner) response(task *v1alpha1.ImageTagSpec) time.Time {
	until := task.CreatedAt.Add(p.Timing.responseTimeout())
	if unready, known := unreadySince(p.Node); known {
		if unready.Before(task.CreatedAt.Time) {
			unready = task.CreatedAt.Time
		}
		if absent := unready.Add(absence); absent.Before(until) {
			return absent
		}
	}
	return until
}

// currentState returns what a status says of the version of a task, nil for nothing.
func currentState(status *v1alpha1.NodeImageStatus, name string, task *v1alpha1.ImageTagSpec) *v1alpha1.ImageTagStatus {
	state := images.StateOf(status, name, task.Tag)
	if state == nil || state.Version != task.Version {
		return nil
	}
	return state
}

// fail makes a task failed in the status.
func (p *planner) fail(status *v1alpha1.NodeImageStatus, name string, task *v1alpha1.ImageTagSpec, message string) {
	p.report(status, name, task, func(state *v1alpha1.ImageTagStatus) {
		state.Phase, state.CompletionTime, state.Message = v1alpha1.ImagePhaseFailed, ptr.To(p.now()), message
	})
}

// report edits what the status says of a task.
func (p *planner) report(status *v1alpha1.NodeImageStatus, name string, task *v1alpha1.ImageTagSpec, edit func(*v1alpha1.ImageTagStatus)) {
	if status.ImageStatuses == nil {
		status.ImageStatuses = map[string]v1alpha1.ImageStatus{}
	}
	image := status.ImageStatuses[name]
	i := slices.IndexFunc(image.Tags, func(t v1alpha1.ImageTagStatus) bool { return t.Tag == task.Tag })
	if i < 0 {
		image.Tags = append(image.Tags, v1alpha1.ImageTagStatus{})
		i = len(image.Tags) - 1
	}
	tag := &image.Tags[i]
	if tag.Version != task.Version {
		*tag = v1alpha1.ImageTagStatus{}
	}
	tag.Tag, tag.Version = task.Tag, task.Version
	edit(tag)
	slices.SortFunc(image.Tags, func(a, b v1alpha1.ImageTagStatus) int { return strings.Compare(a.Tag, b.Tag) })
	status.ImageStatuses[name] = image
}

// prune drops what the status says about tasks that are gone.
func prune(status *v1alpha1.NodeImageStatus, spec *v1alpha1.NodeImageSpec) {
	for name, image := range status.ImageStatuses {
		tags := spec.Images[name].Tags
		image.Tags = slices.DeleteFunc(image.Tags, func(s v1alpha1.ImageTagStatus) bool {
			return !slices.ContainsFunc(tags, func(t v1alpha1.ImageTagSpec) bool { return t.Tag == s.Tag })
		})
		if status.ImageStatuses[name] = image; len(image.Tags) == 0 {
			delete(status.ImageStatuses, name)
		}
	}
}
