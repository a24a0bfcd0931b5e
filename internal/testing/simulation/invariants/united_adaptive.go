// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

func (u *united) limited() bool {
	return u.reads && slices.ContainsFunc(u.Spec.Topology.Subsets, func(s v1alpha1.Subset) bool { return s.MinReplicas != nil || s.MaxReplicas != nil })
}

// moves tells whether others run what a subset cannot schedule.
func (u *united) moves() bool {
	return u.reads && u.Spec.Topology.ScheduleStrategy.Type == v1alpha1.AdaptiveUnitedDeploymentScheduleStrategyType
}

// bounds are the least and the most pods of a subset, also as fractions. (UD-20)
func (u *united) bounds(s *v1alpha1.Subset) (least, most float64, ok bool) {
	ok = true
	read := func(value *intstr.IntOrString, none float64) float64 {
		switch {
		case value == nil:
			return none
		case value.Type == intstr.Int:
			return float64(value.IntVal)
		}
		percent, err := strconv.Atoi(strings.TrimSuffix(value.StrVal, "%"))
		ok = ok && err == nil && percent <= 100 && strings.HasSuffix(value.StrVal, "%")
		return float64(u.wants()) * float64(percent) / 100
	}
	if s.Replicas != nil {
		n := read(s.Replicas, 0)
		return n, n, ok
	}
	least, most = read(s.MinReplicas, 0), read(s.MaxReplicas, math.MaxInt32)
	return min(least, most), most, ok
}

func rounded(n float64) int32 { return int32(math.Floor(min(n, math.MaxInt32-1) + 0.5)) }

// within is what each subset is to have by its limits; false if they cannot be read. (UD-20)
func (u *united) within() (map[string]int32, bool) {
	subsets, left := u.Spec.Topology.Subsets, int64(u.wants())
	if u.vague() {
		return nil, false
	}
	least, most, given := make([]float64, len(subsets)), make([]float64, len(subsets)), make([]int32, len(subsets))
	atMost := int64(0)
	for i := range subsets {
		ok := false
		if least[i], most[i], ok = u.bounds(&subsets[i]); !ok {
			return nil, false
		}
		given[i] = rounded(least[i])
		left, atMost = left-int64(given[i]), atMost+int64(rounded(most[i]))
	}
	switch {
	case left < 0:
		inProportion(u.wants(), least, given)
	case atMost < int64(u.wants()):
		inProportion(u.wants(), most, given)
	default:
		for i := range given {
			more := min(left, int64(rounded(most[i])-given[i]))
			given[i], left = given[i]+int32(more), left-more
		}
	}
	result := map[string]int32{}
	for i := range subsets {
		result[subsets[i].Name] = given[i]
	}
	return result, true
}

// calm tells whether no subset is closed, and no pod waits for a node that the scheduler does not find.
func (u *united) calm() bool {
	closed := first(u.Status.SubsetStatuses, func(s *v1alpha1.UnitedDeploymentSubsetStatus) bool {
		return ptr.Deref(conditionOf(s, v1alpha1.UnitedDeploymentSubsetSchedulable), told{}).status == "False"
	})
	waits := func(pod *corev1.Pod) bool { return u.ownsPod(pod) && (failedToSchedule(pod) || marked(pod)) }
	return closed == nil && !anyOf(maps.Values(u.state.Pods), waits)
}

func marked(pod *corev1.Pod) bool {
	label := pod.Labels[v1alpha1.ReservedPodLabel]
	return label != "" && label != "false"
}

// labelsReserved tells whether every pod gets a label that says whether it is reserved. (UD-21.6)
func (u *united) labelsReserved() bool {
	s := &u.Spec.Topology.ScheduleStrategy
	return u.labelsAll && u.moves() && s.Adaptive != nil && s.Adaptive.ReserveUnschedulablePods
}

// ownsPod tells whether a pod is that of a workload of a subset, or of one that it adopts.
func (u *united) ownsPod(pod *corev1.Pod) bool {
	c := u.childOf(pod.Labels[v1alpha1.SubsetNameLabel])
	return c != nil && u.subset(c.subset) != nil && controls(c.GetUID(), pod)
}

// mayHave tells whether a subset may have so many pods. It has exactly its part, unless it runs what others cannot, or others run
// what it cannot. It never has more than its maximum. (UD-21.2)
func (u *united) mayHave(subset string, n int32, all map[string]int32) bool {
	if n == all[subset] {
		return true
	}
	s := u.subset(subset)
	if s == nil || !u.moves() || u.calm() {
		return false
	}
	if s.Replicas != nil {
		return n >= 0
	}
	_, most, _ := u.bounds(s)
	return n >= 0 && n <= max(rounded(most), all[subset])
}

// checkMoved judges what a status says of subsets, some of whose pods other subsets run. Together they have as many pods as there
// should be, and the reserved pods, for which other subsets run substitutes. (UD-21.3, UD-21.5)
func (u *united) checkMoved(v *violations, status *v1alpha1.UnitedDeploymentStatus, all map[string]int32) {
	sum, reserved := int32(0), int32(0)
	partitions := map[string]int32{}
	for subset, n := range status.SubsetReplicas {
		sum += n
		partitions[subset] = u.partitioned(subset, n)
		v.never(!u.mayHave(subset, n, all), Placement,
			"subset %s is to have %d pods, and its part is %d of %v", subset, n, all[subset], all)
	}
	for s := range each(status.SubsetStatuses) {
		reserved += s.ReservedPods
		v.never(s.Replicas != status.SubsetReplicas[s.Name], Status,
			"subset %s is to have %d and %d pods", s.Name, s.Replicas, status.SubsetReplicas[s.Name])
	}
	odd := sum < u.wants()+status.ReservedPods || u.calm() && sum != u.wants()
	v.never(len(all) > 0 && odd || status.ReservedPods != reserved, Placement,
		"the subsets %v are to have %d pods, %d and %d of them reserved, of %d",
		status.SubsetReplicas, sum, status.ReservedPods, reserved, u.wants())
	if len(status.SubsetReplicas) != len(all) || status.UpdateStatus == nil || !maps.Equal(status.UpdateStatus.CurrentPartitions, partitions) {
		v.add(Status, "subsetReplicas are %v, with the partitions %v", status.SubsetReplicas, partitions)
	}
}

// checkPodPatch: a pod of a subset is marked as reserved while it is not ready, and nothing else is written. (UD-21.3)
func (u *united) checkPodPatch(v *violations, w *Write) {
	before, after := w.pods()
	known := w.knownPod()
	if v.wrong(known == nil || before == nil || after == nil, Ownership, "pod %s is written, which was not known", w.name()) {
		return
	}
	others := without(changed(before.Labels, after.Labels), v1alpha1.ReservedPodLabel)
	v.never(len(others) > 0 || !maps.Equal(before.Annotations, after.Annotations), Spec,
		"pod %s gets %v instead of %v", after.Name, after.Labels, before.Labels)
	label := after.Labels[v1alpha1.ReservedPodLabel]
	v.never(label == "false" && !u.labelsReserved(), Placement, "pod %s gets the label that it is not reserved", after.Name)
	v.never(marked(after) && (!u.moves() || ready(known)), Placement,
		"pod %s is reserved: ready %t", after.Name, ready(known))
	c := u.childOf(known.Labels[v1alpha1.SubsetNameLabel]) // or one that it has just adopted
	v.never(marked(after) && (c == nil || !metav1.IsControlledBy(known, c)), Ownership,
		"pod %s is reserved, which is of no subset", after.Name)
}

// checkRecovered: if there are nodes for all, everything is as if none had ever been missed. Another owner may have the name of a
// pod, which cannot be created then: that is as if it had no node. (UD-21.4)
func (u *united) checkRecovered(v *violations) {
	waits := slices.ContainsFunc(u.Spec.Topology.Subsets, func(s v1alpha1.Subset) bool {
		c := u.childOf(s.Name)
		return c != nil && c.has < c.replicas
	})
	v.never(!waits && !u.calm(), Settled, "there are nodes for all pods, and the subsets are %+v", u.Status.SubsetStatuses)
}
