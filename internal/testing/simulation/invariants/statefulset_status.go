// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// preparesUpdate tells whether a pod waits for its hook before an update.
func preparesUpdate(pod *corev1.Pod) bool {
	return stateOf(pod) == lifecyclev1alpha1.StatePreparingUpdate
}

// checkStatus: the counters are those of the pods that the author saw, if
// the write says anything of them; the spec is the user's.
func (j *statefulSetJudge) checkStatus() {
	before, _ := j.Before.(*v1beta1.StatefulSet)
	after, _ := j.After.(*v1beta1.StatefulSet)
	seen, _ := j.Observed.Workload.(*v1beta1.StatefulSet)
	if before == nil || after == nil || !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		j.add(Spec, "%s of the StatefulSet changes more than the status", j.Verb)
		return
	}
	if seen == nil || seen.UID != after.UID || equality.Semantic.DeepEqual(before.Status, after.Status) {
		return
	}
	told := j.told(after)
	if seen.DeletionTimestamp == nil {
		told.check(j.violations, after.Status.ObservedGeneration)
	}
	if equality.Semantic.DeepEqual(j.countersOf(before), j.countersOf(after)) {
		return
	}
	if after.Status.ObservedGeneration != seen.Generation {
		j.add(Status, "observedGeneration %d of a spec of generation %d", after.Status.ObservedGeneration, seen.Generation)
	}
	if !j.broken {
		j.checkCounters(&after.Status, j.Observed)
		if seen.DeletionTimestamp == nil { // otherwise no revision is written (STS-26)
			j.checkCurrent(&after.Status)
			j.checkConsumers(&after.Status, told, j.Observed)
		}
	}
}

// told is what the status of a StatefulSet tells consumers.
func (j *statefulSetJudge) told(set *v1beta1.StatefulSet) consumers {
	return consumersOf(set.Status.Conditions, func(c *appsv1.StatefulSetCondition) (string, corev1.ConditionStatus) { return string(c.Type), c.Status })
}

// checkConsumers: who goes by conditions waits as long as the pods of a state are not those of the spec. (STS-S3)
func (j *statefulSetJudge) checkConsumers(status *v1beta1.StatefulSetStatus, told consumers, of *State) {
	if j.update != "" && shortHash(status.UpdateRevision) == j.update { // otherwise nothing was counted
		told.checkReached(j.violations, j.reached(of, shortHash(status.CurrentRevision)))
	}
}

// reached tells whether the pods of a state are those of the spec. There is an available one for each wanted ordinal, and no
// other. No more pods are of another revision than partition and type hold back.
func (j *statefulSetJudge) reached(of *State, current string) bool {
	unordered := j.rolling != nil && j.rolling.UnorderedUpdate != nil
	old, held := 0, 0
	for _, ordinal := range j.wanted {
		pod := of.Pods[j.podName(ordinal)]
		if !j.owned(pod) || pod.DeletionTimestamp != nil || !j.readyAt(pod, of) {
			return false
		}
		if shortHash(pod.Labels[revisionLabel]) != j.update && (unordered || !j.below(ordinal)) {
			old++
		}
	}
	for _, pod := range of.Pods {
		if j.owned(pod) && j.ordinalOf(pod.Name) >= 0 && !j.isWanted(pod.Name) {
			return false
		}
	}
	if unordered && current != j.update {
		held = j.partition
	}
	return j.rolling == nil || old <= held
}

// countersOf leaves of a status what follows from pods and template.
func (j *statefulSetJudge) countersOf(set *v1beta1.StatefulSet) v1beta1.StatefulSetStatus {
	s := &set.Status
	return v1beta1.StatefulSetStatus{
		ObservedGeneration: s.ObservedGeneration, Replicas: s.Replicas, ReadyReplicas: s.ReadyReplicas, AvailableReplicas: s.AvailableReplicas,
		CurrentReplicas: s.CurrentReplicas, UpdatedReplicas: s.UpdatedReplicas, UpdatedReadyReplicas: s.UpdatedReadyReplicas,
		UpdatedAvailableReplicas: s.UpdatedAvailableReplicas,
		CurrentRevision:          s.CurrentRevision, UpdateRevision: s.UpdateRevision, VolumeClaims: s.VolumeClaims,
	}
}

// checkCounters compares the counters with those of the pods of a state.
func (j *statefulSetJudge) checkCounters(status *v1beta1.StatefulSetStatus, of *State) {
	var replicas, isReady, isAvailable, current, updated, updatedReady, updatedAvailable int32
	for _, pod := range of.Pods {
		if !j.owned(pod) || j.ordinalOf(pod.Name) < 0 {
			continue
		}
		replicas++
		atUpdate := shortHash(pod.Labels[revisionLabel]) == shortHash(status.UpdateRevision)
		if atUpdate && pod.DeletionTimestamp == nil {
			updated++
		}
		if shortHash(pod.Labels[revisionLabel]) == shortHash(status.CurrentRevision) && pod.DeletionTimestamp == nil {
			current++
		}
		if ready(pod) {
			isReady++
			if atUpdate {
				updatedReady++
			}
		}
		if j.readyAt(pod, of) {
			isAvailable++
			if atUpdate {
				updatedAvailable++
			}
		}
	}
	for _, c := range []counter{
		{"replicas", replicas, status.Replicas},
		{"readyReplicas", isReady, status.ReadyReplicas},
		{"availableReplicas", isAvailable, status.AvailableReplicas},
		{"currentReplicas", current, status.CurrentReplicas},
		{"updatedReplicas", updated, status.UpdatedReplicas},
		{"updatedReadyReplicas", updatedReady, status.UpdatedReadyReplicas},
		{"updatedAvailableReplicas", updatedAvailable, status.UpdatedAvailableReplicas},
	} {
		c.check(j.violations)
	}
	j.checkVolumeCounts(status, of)
}
