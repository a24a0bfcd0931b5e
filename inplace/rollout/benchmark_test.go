// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// crowd makes pods that differ in everything that is compared.
func crowd(n int) []*corev1.Pod {
	random := rand.New(rand.NewPCG(3, 4))
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pod := newPod(fmt.Sprintf("web-%05d", i),
			fmt.Sprintf("node=node-%d", random.IntN(n/4+1)),
			fmt.Sprint("ready=", random.IntN(1000)), fmt.Sprint("created=", random.IntN(1000)), fmt.Sprint("restarts=", random.Int32N(3)),
			fmt.Sprint("tier=tier-", random.IntN(20)), fmt.Sprint("zone=", random.IntN(3)))
		if i%7 == 0 {
			podWord(pod, "unready", "")
		}
		if i%5 == 0 {
			podWord(pod, "cost", fmt.Sprint(random.IntN(100)))
		}
		pods[i] = pod
	}
	return pods
}

func benchmark(b *testing.B, run func(b *testing.B, pods []*corev1.Pod)) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			pods := crowd(n)
			b.ReportAllocs()
			for b.Loop() {
				run(b, pods)
			}
		})
	}
}

func BenchmarkSortForUpdate(b *testing.B) {
	benchmark(b, func(b *testing.B, pods []*corev1.Pod) {
		if _, err := SortForUpdate(pods, UpdateOptions{}); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkSortForUpdateWithPriorityAndScatter(b *testing.B) {
	options := read(b, `{scatterStrategy: [{key: zone, value: "1"}, {key: tier, value: tier-7}], priorityStrategy: {weightPriority: [
		{weight: 10, matchSelector: {matchLabels: {zone: "0"}}}, {weight: 20, matchSelector: {matchLabels: {zone: "1"}}},
		{weight: 5, matchSelector: {matchLabels: {tier: tier-3}}}]}}`).update()
	benchmark(b, func(b *testing.B, pods []*corev1.Pod) {
		if _, err := SortForUpdate(pods, options); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkSortByOrderPriority(b *testing.B) {
	strategy := read(b, "{priorityStrategy: {orderPriority: [{orderedKey: order}, {orderedKey: tier}]}}").PriorityStrategy
	benchmark(b, func(b *testing.B, pods []*corev1.Pod) {
		if _, err := SortByPriority(pods, strategy); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkSortForDeletion(b *testing.B) {
	available := func(p *corev1.Pod) bool { return p.Status.Conditions[0].Status == corev1.ConditionTrue }
	benchmark(b, func(_ *testing.B, pods []*corev1.Pod) {
		SortForDeletion(pods, DeletionOptions{Available: available})
	})
}

func BenchmarkSortForDeletionWithConstraints(b *testing.B) {
	options := DeletionOptions{
		Constraints: []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelTopologyZone}, {TopologyKey: corev1.LabelHostname}},
		Topology: func(node, key string) string {
			if key == corev1.LabelTopologyZone {
				return node[len(node)-1:]
			}
			return node
		},
	}
	benchmark(b, func(_ *testing.B, pods []*corev1.Pod) { SortForDeletion(pods, options) })
}
