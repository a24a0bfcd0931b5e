// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

type pulling struct {
	*v1alpha1.ImagePullJob
	state *State
	// images are the NodeImages of the nodes that it is for, by name.
	images map[string]*v1alpha1.NodeImage
}

func pullingOf(s *State) *pulling {
	job, ok := s.Workload.(*v1alpha1.ImagePullJob)
	if !ok {
		return nil
	}
	p := &pulling{ImagePullJob: job, state: s, images: map[string]*v1alpha1.NodeImage{}}
	for name, object := range s.Further["nodeimages"] {
		if image := object.(*v1alpha1.NodeImage); p.selects(image) {
			p.images[name] = image
		}
	}
	return p
}

// selects tells whether a job is for a node. (IMG-1.3)
func (p *pulling) selects(image *v1alpha1.NodeImage) bool {
	if p.Spec.PodSelector != nil {
		return anyOf(maps.Values(p.state.Pods), func(pod *corev1.Pod) bool {
			return pod.Spec.NodeName == image.Name && active(pod) && matches(p.Spec.PodSelector, pod.Labels)
		})
	}
	s := p.Spec.Selector
	switch {
	case s == nil:
		return true
	case len(s.Names) > 0:
		return slices.Contains(s.Names, image.Name)
	}
	selector := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, e := range s.MatchExpressions {
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{Key: e.Key, Operator: e.Operator, Values: e.Values})
	}
	return matches(selector, image.Labels)
}

// image and tag are what the job is about.
func (p *pulling) image() (name, tag string) {
	if name, tag, found := strings.Cut(p.Spec.Image, ":"); found {
		return name, tag
	}
	return p.Spec.Image, "latest"
}

// taskOf is the task of a job on a node, nil if it has none. (IMG-1.4)
func (p *pulling) taskOf(image *v1alpha1.NodeImage) *v1alpha1.ImageTagSpec {
	name, tag := p.image()
	return first(image.Spec.Images[name].Tags, func(task *v1alpha1.ImageTagSpec) bool { return task.Tag == tag && asks(p.UID, task) })
}

func asks(job types.UID, task *v1alpha1.ImageTagSpec) bool {
	return slices.ContainsFunc(task.OwnerReferences, func(owner corev1.ObjectReference) bool { return owner.UID == job })
}

// phaseOf is what a node has reported of a version of a task; empty for nothing.
func phaseOf(image *v1alpha1.NodeImage, name string, task *v1alpha1.ImageTagSpec) v1alpha1.ImagePullPhase {
	ofTask := func(s *v1alpha1.ImageTagStatus) bool { return s.Tag == task.Tag && s.Version == task.Version }
	return ptr.Deref(first(image.Status.ImageStatuses[name].Tags, ofTask), v1alpha1.ImageTagStatus{}).Phase
}

// counts are how many nodes are how far. (IMG-1.5)
func (p *pulling) counts() (pulls, succeeded, failed int32) {
	name, _ := p.image()
	for _, image := range p.images {
		task := p.taskOf(image)
		if task == nil {
			continue
		}
		switch phaseOf(image, name, task) {
		case v1alpha1.ImagePhaseSucceeded:
			succeeded++
		case v1alpha1.ImagePhaseFailed:
			failed++
		default:
			pulls++
		}
	}
	return pulls, succeeded, failed
}

// parallelism is how many nodes may pull at once. (IMG-1.4)
func (p *pulling) parallelism() int {
	broken := false
	return scaled(ptr.To(ptr.Deref(p.Spec.Parallelism, intstr.FromInt32(1))), len(p.images), true, &broken)
}

func (p *pulling) late() bool {
	return expired(p.Status.StartTime, p.Spec.CompletionPolicy.ActiveDeadlineSeconds, p.state.Now)
}

// ImagePullJob judges a write of the controllers of an ImagePullJob and of the NodeImages.
func ImagePullJob(w *Write) []Violation {
	var v violations
	if w.Known == nil {
		return nil
	}
	switch before := w.Before.(type) {
	case *v1alpha1.ImagePullJob:
		judgePullJob(&v, w, before)
	case *v1alpha1.NodeImage:
		judgeNodeImage(&v, w, before)
	}
	if created, ok := w.After.(*v1alpha1.NodeImage); ok && w.Before == nil && w.Known.Nodes[created.Name] == nil && w.Truth.Nodes[created.Name] == nil {
		v.add(Placement, "creates NodeImage %s, and there is no such node", created.Name) // IMG-2.1
	}
	return v
}

func judgePullJob(v *violations, w *Write, before *v1alpha1.ImagePullJob) {
	p := pullingOf(w.Known)
	if v.wrong(p == nil || p.UID != before.UID, Ownership, "writes to another job than it knows") {
		return
	}
	after, _ := w.After.(*v1alpha1.ImagePullJob)
	if after == nil {
		v.never(!expired(p.Status.CompletionTime, p.Spec.CompletionPolicy.TTLSecondsAfterFinished, w.Truth.Now), Needless,
			"deletes the job, whose TTL is not over")
		return
	}
	status := &after.Status
	v.never(before.Status.CompletionTime != nil && !before.Status.CompletionTime.Equal(status.CompletionTime), Status,
		"completionTime was %v, and is %v", before.Status.CompletionTime, status.CompletionTime)
	if before.Status.CompletionTime != nil || sameCounts(&before.Status, status) {
		return
	}
	seen := pullingOf(w.Observed) // what the controller of NodeImages has done meanwhile, the one of jobs need not know
	if seen == nil {
		return
	}
	with := &pulling{seen.ImagePullJob, seen.state, map[string]*v1alpha1.NodeImage{}} // what it has given nodes to do since, if it was told so
	for name, image := range seen.images {
		if with.images[name] = image; w.Known.Further["nodeimages"][name] != nil {
			with.images[name] = w.Known.Further["nodeimages"][name].(*v1alpha1.NodeImage)
		}
	}
	pulls, succeeded, failed := seen.counts()
	nowPulls, nowSucceeded, nowFailed := with.counts()
	desired, late := int32(len(seen.images)), seen.late() && status.CompletionTime != nil
	if late {
		pulls, nowPulls, failed, nowFailed = 0, 0, desired-succeeded, desired-nowSucceeded
	}
	between := func(name string, was, is, got int32) {
		v.never(!within(min(was, is), got, max(was, is)), Status, "%s is %d, and there are %d, or %d", name, got, was, is)
	}
	between("desired", desired, desired, status.Desired)
	between("active", pulls, nowPulls, status.Active)
	between("succeeded", succeeded, nowSucceeded, status.Succeeded)
	between("failed", failed, nowFailed, status.Failed)
	v.never(int(status.Failed) != len(status.FailedNodes), Status,
		"failedNodes are %v, and %d have failed", status.FailedNodes, status.Failed)
	if all := status.Succeeded+status.Failed == status.Desired; status.CompletionTime != nil && (seen.Spec.CompletionPolicy.Type == v1alpha1.Never || !all) {
		v.add(Status, "the job ends, and %d of %d have succeeded and %d failed", status.Succeeded, status.Desired, status.Failed)
	}
}

func sameCounts(a, b *v1alpha1.ImagePullJobStatus) bool {
	return a.Desired == b.Desired && a.Active == b.Active && a.Succeeded == b.Succeeded && a.Failed == b.Failed && slices.Equal(a.FailedNodes, b.FailedNodes) &&
		(a.CompletionTime == nil) == (b.CompletionTime == nil)
}

// judgeNodeImage: a node gets a task if the job is for it, and no more nodes do than may pull at once. The task goes when nothing
// needs it.
func judgeNodeImage(v *violations, w *Write, before *v1alpha1.NodeImage) {
	after, _ := w.After.(*v1alpha1.NodeImage)
	if after == nil {
		if w.Truth.Nodes[before.Name] != nil && w.Known.Nodes[before.Name] != nil { // one may have joined since it asked
			v.add(Needless, "deletes NodeImage %s, whose node there is", before.Name)
		}
		return
	}
	if p := pullingOf(w.Known); p != nil && p.taskOf(after) != nil && p.taskOf(before) == nil {
		pulls, _, _ := p.counts()
		switch known, _ := w.Known.Further["nodeimages"][before.Name].(*v1alpha1.NodeImage); {
		case known == nil || !p.selects(known):
			v.add(Placement, "node %s gets a task, and the job is not for it", before.Name)
		case p.Status.CompletionTime != nil || p.DeletionTimestamp != nil:
			v.add(Needless, "node %s gets a task of a job that is over", before.Name)
		case int(pulls)+1 > p.parallelism():
			v.add(ScaleRate, "node %s gets a task while %d nodes pull, parallelism %d", before.Name, pulls, p.parallelism())
		}
	}
	if p := pullingOf(w.Truth); p != nil && p.Status.CompletionTime == nil && p.DeletionTimestamp == nil && p.taskOf(before) != nil && p.taskOf(after) == nil &&
		p.selects(before) && p.Spec.CompletionPolicy.Type != v1alpha1.Never {
		v.add(Needless, "node %s loses its task, and the job is not over", before.Name) // IMG-2.3
	}
}

// ImagePullJobSettled judges an ImagePullJob and NodeImages that have settled.
func ImagePullJobSettled(s *State, pushed bool) []Violation {
	var v violations
	for name, object := range s.Further["nodeimages"] {
		image := object.(*v1alpha1.NodeImage)
		v.never(s.Nodes[name] == nil && !s.refuses("delete", "nodeimages"), Settled,
			"NodeImage %s is left, and its node is gone", name)
		for of, spec := range image.Spec.Images {
			for _, task := range spec.Tags {
				if phase := phaseOf(image, of, &task); phase != v1alpha1.ImagePhaseSucceeded && phase != v1alpha1.ImagePhaseFailed && !s.refuses("patch", "nodeimages") {
					v.add(Settled, "the task of %s:%s on %s has no end: %q", of, task.Tag, name, phase) // IMG-2.4
				}
			}
		}
	}
	p := pullingOf(s)
	if p == nil || !pushed {
		return v
	}
	for name := range s.Nodes {
		v.never(s.Further["nodeimages"][name] == nil, Settled, "node %s has no NodeImage", name) // IMG-2.1
	}
	v.never(p.Spec.CompletionPolicy.Type != v1alpha1.Never && p.Status.CompletionTime == nil, Settled,
		"the job has no end: %s", p.Status.Message)
	return v
}
