// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// crowd makes pods that differ in everything that is compared.
func crowd(n int) []*corev1.Pod {
	random := rand.New(rand.NewPCG(3, 4))
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pod := newPod(fmt.Sprintf("web-%05d", i),
			onNode(fmt.Sprintf("node-%d", random.IntN(n/4+1))),
			readySince(random.IntN(1000)), created(random.IntN(1000)), restarts(random.Int32N(3), 0),
			label("tier", fmt.Sprint("tier-", random.IntN(20))), label("zone", fmt.Sprint(random.IntN(3))))
		if i%7 == 0 {
			notReady(pod)
		}
		if i%5 == 0 {
			cost(fmt.Sprint(random.IntN(100)))(pod)
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
	options := UpdateOptions{
		Priority: byWeight(weight(10, "zone", "0"), weight(20, "zone", "1"), weight(5, "tier", "tier-3")),
		Scatter:  inplacev1alpha1.UpdateScatterStrategy{{Key: "zone", Value: "1"}, {Key: "tier", Value: "tier-7"}},
	}
	benchmark(b, func(b *testing.B, pods []*corev1.Pod) {
		if _, err := SortForUpdate(pods, options); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkSortByOrderPriority(b *testing.B) {
	benchmark(b, func(b *testing.B, pods []*corev1.Pod) {
		if _, err := SortByPriority(pods, byKeys("order", "tier")); err != nil {
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
