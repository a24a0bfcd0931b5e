// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkStatus: what the status says is the case in the eyes of its author, if
// the write says anything of it.
func (j *cloneSetJudge) checkStatus() {
	before, _ := j.Before.(*v1alpha1.CloneSet)
	after, _ := j.After.(*v1alpha1.CloneSet)
	seen, _ := j.Observed.Workload.(*v1alpha1.CloneSet)
	if before == nil || after == nil || seen == nil || seen.UID != after.UID {
		return
	}
	if equality.Semantic.DeepEqual(before.Status, after.Status) { // it asks whether the CloneSet is still there, and says nothing
		return
	}
	if !j.limits.broken && j.set.DeletionTimestamp == nil {
		j.checkConsumers(&after.Status)
		j.checkReason(&after.Status)
	}
	if factsOf(before) == factsOf(after) {
		return
	}
	j.checkObserved(&seen.Status, &after.Status, seen.Generation)
	if !j.limits.broken && j.set.DeletionTimestamp == nil {
		j.checkFacts(&after.Status, j.withCreated())
		j.checkCurrent(&seen.Status, &after.Status)
	}
}

// facts are what a status says beside conditions and collisions.
type facts struct {
	observedGeneration                                                            int64
	replicas, ready, available, updated, updatedReady, updatedAvailable, expected int32
	current, update, selector                                                     string
}

func factsOf(set *v1alpha1.CloneSet) facts {
	s := &set.Status
	return facts{s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReplicas, s.UpdatedReadyReplicas, s.UpdatedAvailableReplicas,
		s.ExpectedUpdatedReplicas, s.CurrentRevision, s.UpdateRevision, s.LabelSelector}
}

// checkFacts compares the status with the pods and the spec of a state.
func (j *cloneSetJudge) checkFacts(status *v1alpha1.CloneSetStatus, of *State) {
	// A revision that is created in the same reconcile is named before it is observed.
	if is := shortHash(status.UpdateRevision); is != j.update {
		j.add(Status, "updateRevision is %q, the template is that of %q", status.UpdateRevision, j.update)
		return
	}
	if selector, err := metav1.LabelSelectorAsSelector(j.set.Spec.Selector); err != nil || selector.String() != status.LabelSelector {
		j.add(Status, "labelSelector is %q, the selector %q", status.LabelSelector, selector)
	}
	var replicas, isReady, isAvailable, updated, updatedReady, updatedAvailable int32
	for _, pod := range of.Pods {
		if !j.owned(pod) || !active(pod) {
			continue
		}
		replicas++
		r := readyNow(pod)
		isReady += r
		isNow := available(pod, j.set.Spec.MinReadySeconds, of.Now)
		if isNow {
			isAvailable++
		}
		if !j.old(pod) {
			updated++
			updatedReady += r
			if isNow {
				updatedAvailable++
			}
		}
	}
	for _, c := range []counter{
		{"replicas", replicas, status.Replicas},
		{"readyReplicas", isReady, status.ReadyReplicas},
		{"availableReplicas", isAvailable, status.AvailableReplicas},
		{"updatedReplicas", updated, status.UpdatedReplicas},
		{"updatedReadyReplicas", updatedReady, status.UpdatedReadyReplicas},
		{"updatedAvailableReplicas", updatedAvailable, status.UpdatedAvailableReplicas},
		{"expectedUpdatedReplicas", int32(j.limits.replicas - j.limits.partition), status.ExpectedUpdatedReplicas},
	} {
		c.check(j.violations)
	}
}

// readyNow is 1 for a pod that is ready and not being updated, whatever its hooks.
func readyNow(pod *corev1.Pod) int32 {
	if ready(pod) && !updating(pod) {
		return 1
	}
	return 0
}
