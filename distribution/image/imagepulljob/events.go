// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/images"
)

// nodeImageChanged enqueues the jobs whose plans may be others after
// the change of a NodeImage; before or after may be nil. The progress of a pull
// and what else an agent writes now and then change no plan.
func (o *Options) nodeImageChanged(before, after *v1alpha1.NodeImage, enqueue controller.Enqueue) {
	if selectable(before, after) {
		o.enqueueSelecting(before, after, enqueue)
	}
	if before == nil || after == nil {
		return // its tasks were not known before, or are gone with it
	}
	for job := range ownersOfChanges(before, after) {
		enqueue(job)
	}
}

// selectable tells whether other jobs may select a NodeImage now, or give it a
// task.
func selectable(before, after *v1alpha1.NodeImage) bool {
	if before == nil || after == nil {
		return true
	}
	full := func(n *v1alpha1.NodeImage) bool { return len(n.Spec.Images) >= v1alpha1.MaxNodeImageImages }
	return before.UID != after.UID || !maps.Equal(before.Labels, after.Labels) || full(before) != full(after) ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil)
}

// enqueueSelecting enqueues the jobs that selected a node before,
// or do now.
func (o *Options) enqueueSelecting(before, after *v1alpha1.NodeImage, enqueue controller.Enqueue) {
	ofNodes, err := caches.JobsOfNodes(o.Reader, resourceImagePullJobs)
	if err != nil {
		return // the index is there since New
	}
	for _, job := range ofNodes {
		if selects(job, before) || selects(job, after) {
			enqueue(keyOf(job))
		}
	}
	ofPods, err := caches.JobsOfPods(o.Reader, resourceImagePullJobs, metav1.NamespaceAll)
	if err != nil {
		return
	}
	for _, job := range ofPods { // to reconcile one costs less than finding out whose pods are on the node
		enqueue(keyOf(job))
	}
}

// selects tells whether a job without podSelector selects a node, which may be nil.
func selects(job *v1alpha1.ImagePullJob, n *v1alpha1.NodeImage) bool {
	if n == nil {
		return false
	}
	if selector := job.Spec.Selector; selector != nil && len(selector.Names) > 0 {
		return slices.Contains(selector.Names, n.Name)
	}
	matcher, err := nodeMatcher(job.Spec.Selector)
	return err == nil && matcher.Matches(labels.Set(n.Labels))
}

// ownersOfChanges returns the jobs that own tasks whose state has changed.
func ownersOfChanges(before, after *v1alpha1.NodeImage) map[types.NamespacedName]bool {
	owners := map[types.NamespacedName]bool{}
	add := func(refs []corev1.ObjectReference) {
		for _, ref := range refs {
			if job, ok := images.TaskJob(ref); ok {
				owners[job] = true
			}
		}
	}
	was, is := states(before), states(after)
	for tag, state := range was {
		if now, stays := is[tag]; !stays || !state.equal(now) {
			add(state.owners)
			add(now.owners)
		}
	}
	for tag, state := range is {
		if _, wasThere := was[tag]; !wasThere {
			add(state.owners)
		}
	}
	return owners
}

// tag names a task.
type tag struct{ image, tag string }

// state is what a plan reads of a task.
type state struct {
	version, reported int64
	phase             v1alpha1.ImagePullPhase
	owners            []corev1.ObjectReference
}

func (s state) equal(other state) bool {
	return s.version == other.version && s.reported == other.reported && s.phase == other.phase &&
		equality.Semantic.DeepEqual(s.owners, other.owners)
}

// states returns the states of all tasks of a node.
func states(n *v1alpha1.NodeImage) map[tag]state {
	out := map[tag]state{}
	for name, image := range n.Spec.Images {
		for i := range image.Tags {
			task := &image.Tags[i]
			s := state{version: task.Version, reported: -1, owners: task.OwnerReferences}
			if status := images.StatusOf(n, name, task.Tag); status != nil {
				s.reported, s.phase = status.Version, status.Phase
			}
			out[tag{name, task.Tag}] = s
		}
	}
	return out
}

// podChanged enqueues the jobs whose nodes may be others after the
// change of a pod; before or after may be nil.
func (o *Options) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	if before != nil && after != nil && before.Spec.NodeName == after.Spec.NodeName &&
		runs(before) == runs(after) && maps.Equal(before.Labels, after.Labels) {
		return
	}
	pod := after
	if pod == nil {
		pod = before
	}
	jobs, err := caches.JobsOfPods(o.Reader, resourceImagePullJobs, pod.Namespace)
	if err != nil {
		return // the index is there since New
	}
	for _, job := range jobs {
		matcher, err := metav1.LabelSelectorAsSelector(job.Spec.PodSelector)
		if err == nil && (holds(matcher, before) || holds(matcher, after)) {
			enqueue(keyOf(job))
		}
	}
}

// holds tells whether a pod, which may be nil, makes its node one of a job.
func holds(matcher labels.Selector, pod *corev1.Pod) bool {
	return pod != nil && runs(pod) && matcher.Matches(labels.Set(pod.Labels))
}

func keyOf(job *v1alpha1.ImagePullJob) types.NamespacedName {
	return types.NamespacedName{Namespace: job.Namespace, Name: job.Name}
}

// copyChanged enqueues the jobs that need a copy of a pull secret which came or went, and
// those that needed it before. Before or after may be nil. Jobs outside Options.Namespace
// are those of another manager. (IMG-1.6)
func (o *Options) copyChanged(before, after *corev1.Secret, enqueue controller.Enqueue) {
	was, is := map[types.NamespacedName]bool{}, map[types.NamespacedName]bool{}
	for secret, jobs := range map[*corev1.Secret]map[types.NamespacedName]bool{before: was, after: is} {
		if secret == nil {
			continue
		}
		for _, job := range caches.JobsOfCopy(secret) {
			jobs[job] = o.Namespace == "" || o.Namespace == job.Namespace
		}
	}
	for job, concerned := range was {
		if concerned && !is[job] {
			enqueue(job)
		}
	}
	for job, concerned := range is {
		if concerned && !was[job] {
			enqueue(job)
		}
	}
}
