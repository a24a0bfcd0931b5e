// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// deletionRank decides which of two pods goes first: the one with the lower rank. It leaves out the rank among the pods
// of a node, which comes after. (CS-25)
func (j *cloneSetJudge) deletionRank(pod *corev1.Pod) []int {
	number := func(yes bool) int {
		if yes {
			return 1
		}
		return 0
	}
	cost, _ := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32) // otherwise 0
	return []int{number(pod.Spec.NodeName != ""), phases[pod.Status.Phase], number(available(pod, j.set.Spec.MinReadySeconds, j.Observed.Now)),
		number(ready(pod)), int(cost)}
}

var phases = map[corev1.PodPhase]int{corev1.PodPending: 0, corev1.PodUnknown: 1, corev1.PodRunning: 2}

// checkSurplus: of the pods of a class those go first that are worth least, and no
// more than are left over. Several may go at once, in any order. (CS-23, CS-25)
func (j *cloneSetJudge) checkSurplus(pod *corev1.Pod) {
	seen := j.Observed.Pods[pod.Name]
	if seen == nil || seen.UID != pod.UID {
		return
	}
	rank, better, total := j.deletionRank(seen), 0, 0
	for _, other := range j.Observed.Pods {
		if !j.owned(other) || !active(other) {
			continue
		}
		total++
		if other.Name != seen.Name && j.countedOld(other) == j.countedOld(seen) && slices.Compare(j.deletionRank(other), rank) < 0 {
			better++
		}
	}
	if better >= total-j.limits.replicas {
		j.add(Order, "deletes pod %s, %d of %d are left over, and %d of its revision go before it", pod.Name, total-j.limits.replicas, total, better)
	}
}

// checkTurn: pods that do not serve are updated before those that do. A strategy may say otherwise, and the reconcile
// may have tried them in vain. (CS-28, CS-31)
func (j *cloneSetJudge) checkTurn(pod *corev1.Pod, verb string) {
	strategy := &j.set.Spec.UpdateStrategy
	seen := j.Observed.Pods[pod.Name]
	if strategy.PriorityStrategy != nil || len(strategy.ScatterStrategy) > 0 || seen == nil || seen.UID != pod.UID || !j.old(seen) || preparesUpdate(seen) {
		return
	}
	total, better := 0, 0
	for _, other := range j.Observed.Pods {
		if !j.owned(other) || !active(other) {
			continue
		}
		total++
		if other.Name != seen.Name && !j.Known.Failed[other.Name] && j.mayUpdate(other, j.Observed) && updateRank(other) < updateRank(seen) {
			better++
		}
	}
	most := max(j.limits.unavailable+max(total-j.limits.replicas, 0), 1)
	if better >= most {
		j.add(Order, "%s pod %s, %d pods that do not serve wait, at most %d can be updated at once", verb, pod.Name, better, most)
	}
}

// updateRank is 0 for pods that do not run, 1 for those that are not ready.
func updateRank(pod *corev1.Pod) int {
	switch {
	case pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodRunning:
		return 0
	case !ready(pod):
		return 1
	}
	return 2
}

// mayUpdate tells whether a pod of an old revision is a candidate for the update,
// which no strategy, hook or broken record keeps from it.
func (j *cloneSetJudge) mayUpdate(pod *corev1.Pod, s *State) bool {
	if !j.owned(pod) || !active(pod) || !j.old(pod) || preparingDelete(pod) || j.isSpecified(pod) || inGrace(pod) {
		return false
	}
	if l := j.set.Spec.Lifecycle; l != nil && (holds(l.InPlaceUpdate, pod) || holds(l.PreDelete, pod)) {
		return false
	}
	return j.updatesInPlace(pod, s) || !j.inPlaceOnly()
}

// updatesInPlace tells whether a pod can be updated in place: nothing but images
// and metadata differs, and its record of updates can be read. (IP-1)
func (j *cloneSetJudge) updatesInPlace(pod *corev1.Pod, s *State) bool {
	templates := templatesOf(s.Revisions)
	from, to := templates[shortHash(pod.Labels[revisionLabel])], templates[j.update]
	if from == nil || to == nil || !readable(pod) {
		return false
	}
	if j.features.InPlaceResize {
		return sameButImages(resized(&from.Spec, &to.Spec), &to.Spec)
	}
	return sameButImages(&from.Spec, &to.Spec)
}

// sameButImages tells whether nothing but images differs between specs.
func sameButImages(a, b *corev1.PodSpec) bool {
	rest := b.DeepCopy()
	for i := range min(len(a.Containers), len(rest.Containers)) {
		rest.Containers[i].Image = a.Containers[i].Image
	}
	return equality.Semantic.DeepEqual(a, rest)
}

// readable tells whether the record of the in-place updates of a pod can be read.
func readable(pod *corev1.Pod) bool {
	for _, key := range []string{inplacev1alpha1.StateAnnotation, inplacev1alpha1.LegacyStateAnnotation} {
		if record := pod.Annotations[key]; record != "" && !json.Valid([]byte(record)) {
			return false
		}
	}
	return true
}
