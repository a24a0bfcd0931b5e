// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// checkOrder: pods are updated in their order, from which the partition leaves the last,
// and maxUnavailable holds back those that serve behind others that do. If something
// keeps one of them from its turn, the order is not known. (SCS-7 to SCS-10)
func (j *sidecarSetJudge) checkOrder(pod *corev1.Pod) {
	matched := j.matching(j.Observed)
	var candidates []*corev1.Pod
	for _, other := range matched {
		if !j.candidate(other) {
			continue
		}
		if j.Known.Failed[other.Name] || j.Known.EverFailed[other.Name] || !j.inTurn(other) { // those that failed go last (SCS-15)
			return
		}
		candidates = append(candidates, other)
	}
	order := j.contract.Order(j.set, candidates, matched)
	at := slices.IndexFunc(order, func(other *corev1.Pod) bool { return other.UID == pod.UID })
	if at < 0 {
		return
	}
	var names []string
	serving := 0
	for _, other := range order[:at] {
		if names = append(names, other.Name); inService(other) {
			serving++
		}
	}
	if at >= len(order)-j.partition {
		j.add(Order, "updates pod %s, of %d pods %v go before it, partition %d", pod.Name, len(order), names, j.partition)
	}
	if inService(order[at]) && serving >= j.maxUnavailable {
		j.add(Order, "updates pod %s, which serves, %v go before it and %d of them serve, maxUnavailable %d", pod.Name, names, serving, j.maxUnavailable)
	}
}

// inTurn tells whether nothing holds back the update of a pod but the order: no update before,
// nor one of its workload. (SCS-6, SCS-19, SCS-20)
func (j *sidecarSetJudge) inTurn(pod *corev1.Pod) bool {
	if pod.Annotations[inplacev1alpha1.StateAnnotation] != "" && (!inService(pod) || inGrace(pod) || !runs(pod)) {
		return false
	}
	for i := range j.set.Spec.Containers {
		for _, name := range namesOf(&j.set.Spec.Containers[i]) {
			if goesOn(pod, name) && !j.took(pod, name) {
				return false
			}
		}
	}
	return !j.flipping(pod)
}
