// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// checkStatusWrite judges what a status says, by what its author knew. (WS-20)
func (f *spreading) checkStatusWrite(v *violations, w *Write) {
	after, ok := w.After.(*v1alpha1.WorkloadSpread)
	if v.wrong(!ok || after.UID != f.UID, Ownership, "the status of another WorkloadSpread is written") {
		return
	}
	if after.Status.ObservedGeneration != f.Generation {
		v.add(Status, "observedGeneration is %d, and what was known was at %d", after.Status.ObservedGeneration, f.Generation)
		return
	}
	f.checkStatus(v, &after.Status, w.Known != nil && len(w.Known.Failed) > 0, f.gone(w.Truth))
}

// gone counts the pods that are to be adopted and that are not there any more, as the author does not know yet. They count until it sees
// that. (WS-20)
func (f *spreading) gone(truth *State) int32 {
	return int32(len(among(slices.Values(f.pods), func(pod *corev1.Pod) bool {
		there := truth.Pods[pod.Name]
		return active(pod) && pod.Spec.NodeName != "" && f.subsetOf(pod) == nowhere && (there == nil || there.UID != pod.UID)
	})))
}

// checkStatus judges the numbers of a status. If some pods could not be written, those that are to be adopted
// count nevertheless. So many of those that were to be adopted are gone, and may count. (WS-20)
func (f *spreading) checkStatus(v *violations, status *v1alpha1.WorkloadSpreadStatus, someFailed bool, gone int32) {
	if len(status.SubsetStatuses) != len(f.Spec.Subsets) {
		v.add(Status, "there are %d subsets in the status, and %d in the spec", len(status.SubsetStatuses), len(f.Spec.Subsets))
		return
	}
	has := f.counts(active)
	for i := range f.Spec.Subsets {
		s := &status.SubsetStatuses[i]
		v.never(s.Name != f.Spec.Subsets[i].Name || len(s.DeletingPods) > 0, Status,
			"subset %d is %s in the status, which keeps %d pods that are deleted", i, s.Name, len(s.DeletingPods))
		toCome := f.toCome(v, s)
		if someFailed {
			continue
		}
		if more := s.Replicas - has[i]; more > 0 && more <= gone {
			has[i], gone = s.Replicas, gone-more
		}
		missing := int32(-1)
		if limit := f.limit(i); limit != unbounded {
			missing = max(limit-has[i]-toCome, 0)
		}
		v.never(s.Replicas != has[i], Status, "replicas of subset %s is %d, and there are %d", s.Name, s.Replicas, has[i])
		v.never(s.MissingReplicas != missing, Status, "missingReplicas of subset %s is %d, and there are %d", s.Name, s.MissingReplicas, missing)
	}
}

// toCome counts the pods that a webhook has sent to a subset and that are not there. None is kept for longer than it may take. (WS-7.2)
func (f *spreading) toCome(v *violations, s *v1alpha1.WorkloadSpreadSubsetStatus) (n int32) {
	there := map[string]bool{}
	for _, pod := range f.pods {
		there[pod.Name], there[says(pod).UID] = true, true
	}
	for key, since := range s.CreatingPods {
		age := f.state.Now.Sub(since.Time)
		v.never(age > 31*time.Second || there[key] && age > 11*time.Second, Status,
			"subset %s keeps the creation of %s for %v", s.Name, key, age)
		count(&n, !there[key])
	}
	return n
}

// counts counts pods of each subset; of a workload that wants none there are none. (WS-12)
func (f *spreading) counts(which func(*corev1.Pod) bool) []int32 {
	has := make([]int32, len(f.Spec.Subsets))
	for _, pod := range f.pods {
		if i := f.subsetOf(pod); i >= 0 {
			count(&has[i], which(pod) && f.wants > 0)
		}
	}
	return has
}

func holderSettled(s *State, even bool) []Violation {
	var v violations
	f := spreadingOf(s)
	if f == nil {
		return nil
	}
	v.compareGeneration(f.Status.ObservedGeneration, f.Generation)
	if s.refuses("patch", "pods") { // what should be adopted counts as if it were
		return v
	}
	f.checkStatus(&v, &f.Status, false, 0)
	f.checkConditions(&v)
	if f.wants == 0 { // the rest does not matter
		return v
	}
	f.checkCosts(&v)
	for _, pod := range f.pods {
		node := s.Nodes[pod.Spec.NodeName]
		if !active(pod) || f.subsetOf(pod) != nowhere || node == nil {
			continue
		}
		for i, subset := range f.Spec.Subsets {
			v.never(f.fits(pod, i, node), Settled, "pod %s is in no subset, and %s fits", pod.Name, subset.Name)
		}
	}
	if even {
		f.checkShares(&v)
	}
	return v
}

// WorkloadSpreadSettled judges what there is when nothing more happens. Of several WorkloadSpreads that name the same workload, those that
// do not have it say which one does. Even says that all pods have come from one rollout while every node was there. Then the one that has
// the workload has no subset with more than its share. (WS-22)
func WorkloadSpreadSettled(s *State, even bool) []Violation {
	s = WithHolder(s)
	v := violations(holderSettled(s, even))
	for _, object := range s.Further[spreadResource] {
		f := withoutPods(s, object)
		if f.UID == s.Workload.GetUID() {
			v.never(strings.HasPrefix(f.heldUp(), taken), Status, "%s has the workload, and says %s", f.Name, f.heldUp())
			continue
		}
		v.compareGeneration(f.Status.ObservedGeneration, f.Generation)
		f.checkStatus(&v, &f.Status, false, 0)
		f.checkConditions(&v)
		v.never(f.DeletionTimestamp == nil && f.heldUp() != taken+": WorkloadSpread "+s.Workload.GetName(), Status,
			"%s has the workload, and %s says %q", s.Workload.GetName(), f.Name, f.heldUp())
	}
	return v
}

// taken is the reason that a WorkloadSpread tells if another one has its workload.
const taken = "WorkloadTaken"

// heldUp is the reason that a WorkloadSpread tells with its first subset, and the object that the message begins with; empty for none.
func (f *spreading) heldUp() string {
	if len(f.Status.SubsetStatuses) == 0 {
		return ""
	}
	c := conditionOf(&f.Status.SubsetStatuses[0], heldUp)
	if c == nil {
		return ""
	}
	object, _, _ := strings.Cut(c.message, ": ")
	return c.reason + ": " + object
}

// checkShares judges how many pods the subsets have in the end. A filter may have more wanted than the workload creates of the pods that
// it selects. A Job creates none for those that have ended. Then no rollout makes room for what is missing, and a pod stays in the subset
// that had room when it came. (WS-33, WS-34)
func (f *spreading) checkShares(v *violations) {
	has, there := f.counts(active), int32(0)
	for _, n := range has {
		there += n
	}
	filtered := f.unselected > 0 || f.state.Beside["jobs"] != nil || f.Spec.TargetFilter != nil && len(f.Spec.TargetFilter.ReplicasPathList) > 0
	if !filtered || there >= f.wants {
		shares := f.shares(has, f.wants)
		v.never(!slices.Equal(shares, has), Placement, "the subsets have %v pods, and their shares are %v", has, shares)
		return
	}
	for i := range has {
		v.never(has[i] > f.limit(i), Placement, "subset %s has %d pods, and may have %d", f.Spec.Subsets[i].Name, has[i], f.limit(i))
	}
}

// checkConditions judges whether subsets say what becomes of new pods. (WS-17, WS-18)
func (f *spreading) checkConditions(v *violations) {
	last := len(f.Spec.Subsets) - 1
	for i := range f.Spec.Subsets {
		c, name := f.schedulable(i), f.Spec.Subsets[i].Name
		switch {
		case f.closes() == 0 && c != nil:
			v.add(Status, "subset %s has the condition Schedulable, and no spec asks for it", name)
		case f.closes() > 0 && c == nil:
			v.add(Status, "subset %s has no condition Schedulable", name)
		case c == nil || c.Status == corev1.ConditionTrue:
		case i == last:
			v.add(Status, "the last subset %s takes no pods", name)
		case f.state.Now.Sub(c.LastTransitionTime.Time) > 301*time.Second && !slices.ContainsFunc(f.pods, func(pod *corev1.Pod) bool {
			return f.subsetOf(pod) == i && failedToSchedule(pod)
		}):
			v.add(Status, "subset %s takes no pods since %v", name, f.state.Now.Sub(c.LastTransitionTime.Time))
		}
	}
	if f.closes() == 0 || f.state.refuses("delete", "pods") || f.wants == 0 {
		return
	}
	for _, pod := range f.pods {
		if i := f.subsetOf(pod); i >= 0 && i < last && failedToSchedule(pod) && f.state.Now.Sub(pod.CreationTimestamp.Time) > time.Duration(f.closes()+2)*time.Second {
			v.add(Settled, "pod %s waits for a node in subset %d", pod.Name, i)
		}
	}
}

// checkCosts judges what deleting pods costs. (WS-15, WS-16)
func (f *spreading) checkCosts(v *violations) {
	if f.custom { // what they cost is not the controller's
		return
	}
	n := len(f.Spec.Subsets)
	within, beyond := make([][]*corev1.Pod, n), make([][]*corev1.Pod, n)
	costs := map[string]int{}
	var silent []string // what they cost is 0
	for _, pod := range among(slices.Values(f.pods), active) {
		cost, err := strconv.Atoi(pod.Annotations[corev1.PodDeletionCost])
		i := f.subsetOf(pod)
		costs[pod.Name] = cost
		switch {
		case i < 0 && pod.Annotations[corev1.PodDeletionCost] == "":
			silent = append(silent, pod.Name)
		case err != nil || !f.mayCost(i, pod.Annotations[corev1.PodDeletionCost]):
			v.add(Order, "pod %s of subset %d costs %q", pod.Name, i, pod.Annotations[corev1.PodDeletionCost])
		case i < 0:
		case cost < 0:
			beyond[i] = append(beyond[i], pod)
		default:
			within[i] = append(within[i], pod)
		}
	}
	for i := range n {
		v.never(len(beyond[i]) > 0 && len(silent) > 0, Order,
			"pods %v of no subset cost more than those beyond the limit of subset %d", silent, i)
		surplus := max(len(within[i])+len(beyond[i])-int(f.limit(i)), 0)
		v.never(surplus != len(beyond[i]), Order,
			"%d pods of subset %d are beyond its limit %d, and %d cost less", surplus, i, f.limit(i), len(beyond[i]))
		for _, out := range beyond[i] {
			for _, in := range within[i] {
				v.never(rank(f, out) > rank(f, in), Order, "pod %s of subset %d goes before %s", out.Name, i, in.Name)
			}
		}
		if f.inPercent() {
			f.checkPlaces(v, i, within[i], costs)
		}
	}
}

// rank says how much a pod is worth, of those of its subset: revision before node, phase and readiness.
func rank(f *spreading, pod *corev1.Pod) (worth int) {
	for _, is := range []bool{f.isLatest(pod), pod.Spec.NodeName != "", pod.Status.Phase == corev1.PodRunning, ready(pod)} {
		worth = 2*worth + one(is)
	}
	return worth
}

// checkPlaces judges that the pods within the limit of a subset have the first places of those that its percentage gives.
// (WS-16)
func (f *spreading) checkPlaces(v *violations, i int, pods []*corev1.Pod, costs map[string]int) {
	weight := f.weight(i)
	if weight == 0 {
		return
	}
	var has, want []int
	for k, pod := range pods {
		has = append(has, costs[pod.Name])
		want = append(want, 10_000_000-500*(2*k+1)/weight)
	}
	slices.Sort(has)
	slices.Sort(want)
	v.never(!slices.Equal(has, want), Order, "the pods of subset %d with %d %% cost %v, not %v", i, weight, has, want)
}

func (f *spreading) weight(i int) int {
	left, unlimited := 100, -1
	for other := range f.Spec.Subsets {
		value := f.Spec.Subsets[other].MaxReplicas
		if value == nil {
			if unlimited < 0 {
				unlimited = other
			}
			continue
		}
		percent, _ := strconv.Atoi(value.StrVal[:len(value.StrVal)-1])
		if other == i {
			return percent
		}
		left -= percent
	}
	if unlimited != i {
		return 0
	}
	return left
}
