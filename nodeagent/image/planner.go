// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan  *Plan
	pulls map[Task]*Pull

	tasks []*task
}

// task is a task with all that is known of it.
type task struct {
	Task
	image *v1alpha1.ImageSpec
	spec  *v1alpha1.ImageTagSpec
	// reported is what the status says of this version, nil for nothing.
	reported *v1alpha1.ImageTagStatus
	// pull is the work of this agent on this version, nil for none.
	pull *Pull
	// status is what to report.
	status v1alpha1.ImageTagStatus
}

// planTasks collects the tasks, the oldest first, and ends the pulls that belong
// to none of them.
func (p *planner) planTasks() {
	if p.NodeImage != nil {
		for name, image := range p.NodeImage.Spec.Images {
			for i := range image.Tags {
				p.tasks = append(p.tasks, p.taskOf(name, &image, &image.Tags[i]))
			}
		}
	}
	slices.SortFunc(p.plan.Adopt, func(a, b Adopt) int { return cmp.Or(cmp.Compare(a.Image, b.Image), cmp.Compare(a.Tag, b.Tag)) })
	slices.SortFunc(p.tasks, func(a, b *task) int {
		return cmp.Or(created(a).Compare(created(b)), cmp.Compare(a.Image, b.Image), cmp.Compare(a.Tag, b.Tag))
	})
	wanted := map[Task]*task{}
	for _, t := range p.tasks {
		wanted[t.Task] = t
	}
	for i := range p.Snapshot.Pulls {
		pull := &p.Snapshot.Pulls[i]
		if t := wanted[pull.Task]; t != nil && t.pull != nil && t.pull.Version != pull.Version {
			continue // it is adopted
		}
		if reason := needless(pull, wanted[pull.Task]); reason != "" {
			p.end(pull, reason)
		}
	}
	slices.SortFunc(p.plan.Cancel, func(a, b Cancel) int { return cmp.Or(cmp.Compare(a.Image, b.Image), cmp.Compare(a.Tag, b.Tag)) })
	slices.SortFunc(p.plan.Forget, func(a, b Task) int { return cmp.Or(cmp.Compare(a.Image, b.Image), cmp.Compare(a.Tag, b.Tag)) })
}

func (p *planner) taskOf(name string, image *v1alpha1.ImageSpec, spec *v1alpha1.ImageTagSpec) *task {
	t := &task{Task: Task{name, spec.Tag}, image: image, spec: spec}
	if status := images.StatusOf(p.NodeImage, name, spec.Tag); status != nil && status.Version == spec.Version {
		t.reported = status
	}
	switch pull := p.pulls[t.Task]; {
	case pull == nil:
	case pull.Version == spec.Version:
		t.pull = pull
	case p.serves(pull, t):
		adopted := pull.adopted(spec.Version, p.Now)
		t.pull = &adopted
		p.plan.Adopt = append(p.plan.Adopt, Adopt{t.Task, spec.Version})
	}
	return t
}

// serves tells whether the attempt under way for another version of a task is as good for the one that is wanted. It is if a
// namespace whose secrets it may use still owns the task. Otherwise each new job for an image would take it back to its
// begin. (IMG-3.2)
func (p *planner) serves(pull *Pull, t *task) bool {
	if !pull.Running || t.finished() || p.Filter.refuses(t) != "" {
		return false
	}
	owners := p.Filter.passing(owningNamespaces(t.spec.OwnerReferences))
	if pull.Namespaces == nil || owners == nil {
		return pull.Namespaces == nil && owners == nil
	}
	return slices.ContainsFunc(owners, func(namespace string) bool { return slices.Contains(pull.Namespaces, namespace) })
}

// adopted is a pull whose attempt under way goes on for another version.
func (p Pull) adopted(version int64, now time.Time) Pull {
	return Pull{Task: p.Task, Version: version, Since: now, Running: true, Former: true, Namespaces: p.Namespaces}
}

func created(t *task) time.Time { return ptr.Deref(t.spec.CreatedAt, metav1.Time{}).Time }

// needless says why a pull is not needed any more; empty if it is. (IMG-3.2)
func needless(pull *Pull, t *task) string {
	switch {
	case t == nil:
		return "the task has been taken away"
	case t.spec.Version != pull.Version:
		return fmt.Sprintf("the task has come to version %d, and this is version %d", t.spec.Version, pull.Version)
	case t.finished():
		return "the task is finished: " + string(t.reported.Phase) + " " + t.reported.Message
	}
	return ""
}

// end ends the work on a task.
func (p *planner) end(pull *Pull, reason string) {
	if pull.Running {
		p.plan.Cancel = append(p.plan.Cancel, Cancel{pull.Task, reason})
		return
	}
	p.plan.Forget = append(p.plan.Forget, pull.Task)
}

// finished tells whether the status says that this version has come to its end.
// Such a task is not pulled again. (IMG-3.2)
func (t *task) finished() bool { return t.reported != nil && t.reported.CompletionTime != nil }

// policy returns the pull policy of a task, empty if it has none.
func (t *task) policy() v1alpha1.ImageTagPullPolicy {
	return ptr.Deref(t.spec.PullPolicy, v1alpha1.ImageTagPullPolicy{})
}

// begun is when the work on a task began: what has been reported counts, so that
// an agent that starts again does not begin anew.
func (p *planner) begun(t *task) time.Time {
	switch {
	case t.reported != nil && t.reported.StartTime != nil:
		return t.reported.StartTime.Time
	case t.pull != nil:
		return t.pull.Since
	}
	return p.Now
}
