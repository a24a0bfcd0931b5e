// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// Cost is what deleting a pod is to cost, as its annotation pod-deletion-cost says.
type Cost struct {
	// Pod is the pod whose annotation says otherwise, and Subset the name of its subset.
	Pod    *corev1.Pod
	Subset string
	// Cost is what the annotation is to say: workloads delete pods of a lower cost first.
	Cost int32
}

// heedsCosts tells whether workloads of a kind delete pods by their costs, and replace one that is deleted by another. Those
// do not that count it as failed, create it under its name, or are not known. (WS-15, WS-19)
func heedsCosts(kind schema.GroupKind) bool {
	return kind == CloneSets || kind == Deployments || kind == ReplicaSets
}

// costs returns the costs of pods, of each subset and of none, if their annotations have others.
// (WS-15, WS-16)
func (c *computer) costs() (result []Cost) {
	if kind, _ := KindOf(c.Spread); !heedsCosts(kind) {
		return nil
	}
	subsets := c.Spread.Spec.Subsets
	graded, anySurplus := InPercent(c.Spread), false
	for i := range subsets {
		pods := active(c.groups[i])
		limit := limit(&subsets[i], c.Workload.Wants())
		var surplus []*corev1.Pod
		if limit != Unlimited && len(pods) > int(limit) {
			pods = slices.SortedStableFunc(slices.Values(pods), c.dispensable)
			surplus, pods = pods[:len(pods)-int(limit)], pods[len(pods)-int(limit):]
			anySurplus = true
		}
		if graded {
			result = append(result, c.graded(i, pods)...)
		} else {
			result = append(result, changed(pods, subsets[i].Name, int32(100*(len(subsets)-i)))...)
		}
		result = append(result, changed(surplus, subsets[i].Name, int32(-100*(i+1)))...)
	}
	outside := slices.DeleteFunc(active(c.Unassigned), func(pod *corev1.Pod) bool {
		return !anySurplus && pod.Annotations[corev1.PodDeletionCost] == "" // 0 is less than what all others cost
	})
	return append(result, changed(outside, v1alpha1.FakeSubsetName, int32(-100*(len(subsets)+1)))...)
}

// highestCost is above all graded costs. Each is less by about ten times the number of pods that
// the workload has to want for the pod to stay.
const highestCost = 10_000_000

// graded returns the costs of the pods of a subset if limits are percentages. Pods of all subsets
// alternate as their percentages have it, so that whatever number of them is deleted, the others
// are spread alike. Each pod has a place in its subset, and keeps it as long as there are as many
// pods. (WS-16)
func (c *computer) graded(subset int, pods []*corev1.Pod) (result []Cost) {
	weight := c.weight(subset)
	places := make(map[int32]int, len(pods))
	for place := range pods {
		places[placeCost(place, weight)] = place
	}
	var homeless []*corev1.Pod
	for _, pod := range slices.Backward(slices.SortedStableFunc(slices.Values(pods), c.dispensable)) {
		cost, found := costOf(pod)
		if _, free := places[cost]; found && free {
			delete(places, cost)
			continue
		}
		homeless = append(homeless, pod)
	}
	free := make([]int32, 0, len(places))
	for cost := range places {
		free = append(free, cost)
	}
	slices.Sort(free)
	slices.Reverse(free)
	for i, pod := range homeless {
		// Without places for all, which are too many to tell their costs apart, the rest are alike.
		cost := int32(1)
		if i < len(free) {
			cost = free[i]
		}
		result = append(result, changed([]*corev1.Pod{pod}, c.Spread.Spec.Subsets[subset].Name, cost)...)
	}
	return result
}

// placeCost is the cost of the pod at a place of a subset that has a percentage of all.
func placeCost(place int, weight int64) int32 {
	if weight <= 0 {
		return 1
	}
	return int32(max(highestCost-(2*int64(place)+1)*500/weight, 1))
}

// weight is the percentage of a subset. The first one without has what the others leave, and
// further ones nothing.
func (c *computer) weight(subset int) int64 {
	left, first := int64(100), true
	for i := range c.Spread.Spec.Subsets {
		value := c.Spread.Spec.Subsets[i].MaxReplicas
		if value == nil {
			if i < subset {
				first = false
			}
			continue
		}
		percent, _ := percentage(value.StrVal)
		if i == subset {
			return percent
		}
		left -= percent
	}
	if !first {
		return 0
	}
	return max(left, 0)
}

// changed returns the costs of pods that say otherwise.
func changed(pods []*corev1.Pod, subset string, cost int32) (result []Cost) {
	for _, pod := range pods {
		if has, found := costOf(pod); !found || has != cost {
			result = append(result, Cost{pod, subset, cost})
		}
	}
	return result
}

// costOf reads what deleting a pod costs; false if it does not say, or in another form.
func costOf(pod *corev1.Pod) (int32, bool) {
	text := pod.Annotations[corev1.PodDeletionCost]
	cost, err := strconv.ParseInt(text, 10, 32)
	return int32(cost), err == nil && strconv.FormatInt(cost, 10) == text
}

func active(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return !podstate.Active(pod) })
}

// dispensable sorts pods by which is surplus first. Pods of old revisions come first, then those
// without a node, then Pending before Unknown before Running. Then come those that are not ready,
// ready for the shorter time, with more restarts, younger. (WS-15)
func (c *computer) dispensable(a, b *corev1.Pod) int {
	return cmp.Or(
		yes(c.Workload.latest(revisionOf(a)))-yes(c.Workload.latest(revisionOf(b))),
		yes(a.Spec.NodeName != "")-yes(b.Spec.NodeName != ""),
		phases[a.Status.Phase]-phases[b.Status.Phase],
		yes(readiness.Ready(a))-yes(readiness.Ready(b)),
		readySince(b).Compare(readySince(a)),
		cmp.Compare(restarts(b), restarts(a)),
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		cmp.Compare(b.Name, a.Name),
	)
}

var phases = map[corev1.PodPhase]int{corev1.PodPending: 0, corev1.PodUnknown: 1, corev1.PodRunning: 2}

func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}

// readySince is when a pod became ready; for one that is not, a time that does not tell it from
// others.
func readySince(pod *corev1.Pod) (at time.Time) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return at
}

func restarts(pod *corev1.Pod) (most int32) {
	for i := range pod.Status.ContainerStatuses {
		most = max(most, pod.Status.ContainerStatuses[i].RestartCount)
	}
	return min(most, math.MaxInt32)
}
