// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/patches"
)

// crowd makes pods that differ in everything that is compared.
func crowd(n int) []*corev1.Pod {
	random := rand.New(rand.NewPCG(3, 4))
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		words := []string{fmt.Sprintf("node=node-%d", random.IntN(n/4+1)),
			fmt.Sprint("ready=", random.IntN(1000)), fmt.Sprint("created=", random.IntN(1000)), fmt.Sprint("restarts=", random.Int32N(3)),
			fmt.Sprint("tier=tier-", random.IntN(20)), fmt.Sprint("zone=", random.IntN(3))}
		if i%7 == 0 {
			words = append(words, "unready")
		}
		if i%5 == 0 {
			words = append(words, fmt.Sprint("cost=", random.IntN(100)))
		}
		pods[i] = newPod(fmt.Sprintf("web-%05d", i), words...)
	}
	return pods
}

// BenchmarkSort sorts pods for updates and for deletions.
func BenchmarkSort(b *testing.B) {
	scattered := patches.Object[given](b, `{scatterStrategy: [{key: zone, value: "1"}, {key: tier, value: tier-7}], priorityStrategy: {weightPriority: [
		{weight: 10, matchSelector: {matchLabels: {zone: "0"}}}, {weight: 20, matchSelector: {matchLabels: {zone: "1"}}},
		{weight: 5, matchSelector: {matchLabels: {tier: tier-3}}}]}}`).update()
	ordered := patches.Object[given](b, "{priorityStrategy: {orderPriority: [{orderedKey: order}, {orderedKey: tier}]}}").PriorityStrategy
	available := func(p *corev1.Pod) bool { return p.Status.Conditions[0].Status == corev1.ConditionTrue }
	constrained := given{Spread: []string{"zone", "host"}}.deletion()
	sorts := map[string]func([]*corev1.Pod) ([]*corev1.Pod, error){
		"for-update":            func(pods []*corev1.Pod) ([]*corev1.Pod, error) { return SortForUpdate(pods, UpdateOptions{}) },
		"for-update, scattered": func(pods []*corev1.Pod) ([]*corev1.Pod, error) { return SortForUpdate(pods, scattered) },
		"by-order":              func(pods []*corev1.Pod) ([]*corev1.Pod, error) { return SortByPriority(pods, ordered) },
		"for-deletion": func(pods []*corev1.Pod) ([]*corev1.Pod, error) {
			return SortForDeletion(pods, DeletionOptions{Available: available}), nil
		},
		"for-deletion, in zones": func(pods []*corev1.Pod) ([]*corev1.Pod, error) { return SortForDeletion(pods, constrained), nil },
	}
	for _, n := range []int{10, 1_000, 10_000} {
		pods := crowd(n)
		for name, sort := range sorts {
			b.Run(fmt.Sprintf("%s/pods=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := sort(pods); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
