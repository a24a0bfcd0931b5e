// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// inOrder returns candidates for the update in their order; all are the pods that are matched. (SCS-9, SCS-10, SCS-29)
func (j *sidecarSetJudge) inOrder(candidates, all []*corev1.Pod) []*corev1.Pod {
	ordered := slices.Clone(candidates)
	slices.SortStableFunc(ordered, func(a, b *corev1.Pod) int {
		return cmp.Or(slices.Compare(j.priority(a), j.priority(b)), slices.Compare(servesLess(a), servesLess(b)), strings.Compare(a.Name, b.Name))
	})
	return scattered(ordered, all, j.set.Spec.UpdateStrategy.ScatterStrategy)
}

// scattered spreads pods that match a term among the others, term after term. The terms that most of them match come first. (CS-30, SCS-10)
func scattered(order, all []*corev1.Pod, terms []v1alpha1.UpdateScatterTerm) []*corev1.Pod {
	var each []v1alpha1.UpdateScatterTerm
	for _, term := range terms {
		values := map[string]bool{term.Value: true}
		if term.Value == "*" {
			values = map[string]bool{}
			for _, pod := range all {
				if value, has := pod.Labels[term.Key]; has {
					values[value] = true
				}
			}
		}
		for _, value := range slices.Sorted(maps.Keys(values)) {
			each = append(each, v1alpha1.UpdateScatterTerm{Key: term.Key, Value: value})
		}
	}
	slices.SortStableFunc(each, func(a, b v1alpha1.UpdateScatterTerm) int {
		return cmp.Compare(len(having(order, b)), len(having(order, a)))
	})
	for _, term := range each {
		order = spread(order, all, term)
	}
	return order
}

// having are the pods that match a term, in their order.
func having(pods []*corev1.Pod, term v1alpha1.UpdateScatterTerm) (found []*corev1.Pod) {
	for _, pod := range pods {
		if value, has := pod.Labels[term.Key]; has && value == term.Value {
			found = append(found, pod)
		}
	}
	return found
}

// spread has groups of pods that match a term take turns with groups of the others, as CS-30 says.
func spread(order, all []*corev1.Pod, term v1alpha1.UpdateScatterTerm) []*corev1.Pod {
	matched := having(order, term)
	others := slices.DeleteFunc(slices.Clone(order), func(pod *corev1.Pod) bool { return slices.Contains(matched, pod) })
	if len(matched) < 2 || len(others) < 2 {
		return order
	}
	last := matched[len(matched)-1]
	matched = matched[:len(matched)-1]
	m, u := len(matched), len(others)
	a := len(having(all, term)) - 1
	b := len(all) - a - 1
	rounded := func(of, by int) int { return int(math.Round(float64(of) / float64(by))) }
	groups := min(m, u)
	sizeM, sizeU, lead := rounded(m, groups), rounded(u, groups), 0
	if b*m < u*a { // matched ones are rarer than among all
		sizeM, sizeU = rounded(a, min(a, b)), rounded(b, min(a, b))
		groups = min(m/sizeM, u/sizeU)
		lead = u - groups*sizeU
	}
	turns, others := others[:lead:lead], others[lead:]
	for range groups {
		nM, nU := min(sizeM, len(matched)), min(sizeU, len(others))
		turns = slices.Concat(turns, matched[:nM], others[:nU])
		matched, others = matched[nM:], others[nU:]
	}
	return append(slices.Concat(turns, matched, others), last)
}

// servesLess is smaller for pods that serve less. (CS-28)
func servesLess(pod *corev1.Pod) []int64 {
	var assigned, isReady, readySince, restarts int64
	if pod.Spec.NodeName != "" {
		assigned = 1
	}
	if c := condition(pod, corev1.PodReady); c != nil && c.Status == corev1.ConditionTrue {
		isReady, readySince = 1, c.LastTransitionTime.Unix()
	}
	for _, c := range pod.Status.ContainerStatuses {
		restarts = max(restarts, int64(c.RestartCount))
	}
	return []int64{assigned, int64(phases[pod.Status.Phase]), isReady, -readySince, -restarts, -pod.CreationTimestamp.Unix()}
}

// priority is smaller for pods that the priorityStrategy updates first. (SCS-29)
func (j *sidecarSetJudge) priority(pod *corev1.Pod) []int64 {
	strategy := j.set.Spec.UpdateStrategy.PriorityStrategy
	if strategy == nil {
		return nil
	}
	var weight int64
	for _, term := range strategy.WeightPriority {
		selector, err := metav1.LabelSelectorAsSelector(&term.MatchSelector)
		j.confused = j.confused || err != nil
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			weight += int64(term.Weight)
		}
	}
	if len(strategy.WeightPriority) > 0 {
		return []int64{-weight}
	}
	for place, term := range strategy.OrderPriority {
		if value, has := pod.Labels[term.OrderedKey]; has {
			number, _ := strconv.ParseInt(value[len(strings.TrimRight(value, "0123456789")):], 10, 64) // 0 without digits
			return []int64{int64(place) + 1, -number}
		}
	}
	return []int64{0, 0}
}

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
	order := j.inOrder(candidates, matched)
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
