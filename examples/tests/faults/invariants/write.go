// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// writeOfPod returns the write by which a controller has changed a pod; nil if it was another writer.
func (j *Judge) writeOfPod(c Change, uid types.UID, gap bool) *invariants.Write {
	if disrupted(c, gap) {
		return nil
	}
	before, after := withoutOthers(c)
	w := &invariants.Write{Resource: "pods", Truth: j.truth(uid, c)}
	if before != nil {
		w.Before = before
	}
	if after != nil {
		w.After = after
	}
	switch {
	case before == nil:
		if after.DeletionTimestamp != nil {
			return nil // created and deleted in a gap
		}
		w.Verb = "create"
	case deleted(c.Old, c.New):
		w.Verb = "delete"
		if after != nil { // with the labels that it had then
			before = before.DeepCopy()
			before.Labels = after.Labels
			w.Before, w.Truth.Pods[before.Name] = before, before
		}
	case after == nil: // its kubelet has ended it
		return nil
	default:
		w.Verb = "patch"
		part := j.ofControllers(before, after, gap)
		if equality.Semantic.DeepEqual(before.Spec, part.Spec) && equality.Semantic.DeepEqual(before.Status, part.Status) &&
			!relabelled(before, part) {
			return nil
		}
		w.After = part
	}
	return w
}

// deleted tells whether an object that was to stay is about to go, or gone.
func deleted(before, after metav1.Object) bool {
	return before.GetDeletionTimestamp() == nil && (after == nil || after.GetDeletionTimestamp() != nil)
}

func relabelled(before, after *corev1.Pod) bool {
	return !maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations)
}

// ofControllers is what has become of a pod without what the scheduler, its kubelet and SidecarSets have written. A write
// changes what belongs to a controller or to one of the others, a gap may be about both.
func (j *Judge) ofControllers(before, after *corev1.Pod, gap bool) *corev1.Pod {
	part := after.DeepCopy()
	if before.Spec.NodeName == "" && after.Spec.NodeName != "" {
		part.Spec.NodeName = ""
		maps.DeleteFunc(part.Labels, func(key, _ string) bool {
			_, had := before.Labels[key]
			return !had && strings.HasPrefix(key, "topology.kubernetes.io/")
		})
	}
	if !gap && relabelled(before, part) {
		return part
	}
	part.Status = *before.Status.DeepCopy()
	setGates(&part.Status, after)
	if ready := podstate.Condition(after, corev1.PodReady); ready.Type != "" && ready.Status != corev1.ConditionTrue && !j.lacksSidecars(after) {
		setCondition(&part.Status, ready)
	}
	return part
}

// setGates sets the conditions of a status that controllers write to those of a pod.
func setGates(status *corev1.PodStatus, from *corev1.Pod) {
	for _, condition := range from.Status.Conditions {
		if condition.Type == inplacev1alpha1.InPlaceUpdateReady || condition.Type == lifecyclev1alpha1.KruisePodReady {
			setCondition(status, condition)
		}
	}
}

func setCondition(status *corev1.PodStatus, condition corev1.PodCondition) {
	for i := range status.Conditions {
		if status.Conditions[i].Type == condition.Type {
			status.Conditions[i] = condition
			return
		}
	}
	status.Conditions = append(status.Conditions, condition)
}

// truth is what there was of a workload just before a change that has been taken note of.
func (j *Judge) truth(uid types.UID, c Change) *invariants.State {
	state := &invariants.State{
		Pods: j.podsOf(uid), Claims: map[string]*corev1.PersistentVolumeClaim{}, Revisions: ownedBy(j.revisions, uid),
	}
	for _, claim := range j.claims {
		state.Claims[claim.Name] = claim
	}
	if s := j.sets[uid]; s != nil {
		state.Workload = s.counting[len(s.counting)-1]
	}
	undo(state.Pods, c)
	undo(state.Claims, c)
	return state
}

// undo puts an object back as it was before a change, if it is of a kind.
func undo[T metav1.Object](all map[string]T, c Change) {
	if object, is := c.New.(T); is {
		delete(all, object.GetName())
	}
	if object, is := c.Old.(T); is {
		all[object.GetName()] = object
	}
}

// holdsInGap tells whether something is wrong also if a change lumps together several: it takes neither their order nor a
// moment between them to know.
func holdsInGap(invariant invariants.Invariant, w *invariants.Write) bool {
	_, cloned := w.Truth.Workload.(*v1alpha1.CloneSet)
	switch invariant {
	case invariants.Ownership, invariants.InPlace, invariants.Surge:
		return true
	case invariants.Claims: // those that a pod came or went with may have changed since
		return w.Resource != "pods" || w.Verb == "create" && !cloned
	case invariants.Availability:
		return cloned
	case invariants.Hooks:
		return w.Verb == "delete"
	}
	return false
}
