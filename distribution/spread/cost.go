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
			pods = c.dispensable(pods)
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
	for _, pod := range slices.Backward(c.dispensable(pods)) {
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
	var room [16]byte
	return int32(cost), err == nil && string(strconv.AppendInt(room[:0], cost, 10)) == text
}

func active(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return !podstate.Active(pod) })
}

// dispensable returns pods by which is surplus first. Pods of old revisions come first, then those
// without a node, then Pending before Unknown before Running. Then come those that are not ready,
// ready for the shorter time, with more restarts, younger. (WS-15)
func (c *computer) dispensable(pods []*corev1.Pod) []*corev1.Pod {
	backing, keys := make([]surplusKey, len(pods)), make([]*surplusKey, len(pods))
	for i, pod := range pods {
		keys[i] = &backing[i]
		backing[i] = surplusKey{pod: pod, index: i, stage: c.stage(pod), readySince: readySince(pod), restarts: restarts(pod), created: pod.CreationTimestamp.Time}
	}
	slices.SortFunc(keys, (*surplusKey).compare)
	sorted := make([]*corev1.Pod, len(pods))
	for i, k := range keys {
		sorted[i] = k.pod
	}
	return sorted
}

// surplusKey is what pods are compared by, read from each once.
type surplusKey struct {
	pod                 *corev1.Pod
	index               int // the place in the list that was given
	stage               int // how far it got: the higher, the more it would be missed
	restarts            int32
	readySince, created time.Time
}

// stage is made of what decides first: the revision, the node, the phase, and whether a pod is ready.
func (c *computer) stage(pod *corev1.Pod) int {
	return yes(c.Workload.isOfLatest(pod))<<4 + yes(pod.Spec.NodeName != "")<<3 + rankOf(pod.Status.Phase)<<1 + yes(readiness.Ready(pod))
}

// rankOf ranks the phases of pods that have not ended.
func rankOf(phase corev1.PodPhase) int {
	switch phase {
	case corev1.PodRunning:
		return 2
	case corev1.PodUnknown:
		return 1
	}
	return 0
}

func (k *surplusKey) compare(other *surplusKey) int {
	switch {
	case k.stage != other.stage:
		return cmp.Compare(k.stage, other.stage)
	case !k.readySince.Equal(other.readySince):
		return other.readySince.Compare(k.readySince)
	case k.restarts != other.restarts:
		return cmp.Compare(other.restarts, k.restarts)
	case !k.created.Equal(other.created):
		return other.created.Compare(k.created)
	case k.pod.Name != other.pod.Name:
		return cmp.Compare(other.pod.Name, k.pod.Name)
	}
	return cmp.Compare(k.index, other.index)
}

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
