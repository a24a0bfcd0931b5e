// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// BenchmarkPlan plans for a marker of n pods, which have a result or none yet, or while n nodes have its probes.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name string
		edit func(pod *corev1.Pod)
		held func(n int) int
	}{
		{"settled", func(pod *corev1.Pod) {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "Idle", Status: corev1.ConditionTrue})
		}, func(int) int { return 0 }},
		{"no-result", func(*corev1.Pod) {}, func(n int) int { return n }},
		{"ending", func(*corev1.Pod) {}, func(n int) int { return n }},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			s := &Snapshot{Marker: newMarker(), Now: now.Time}
			s.Pods = planbench.Copies(b, newPod("web"), n, caches.Trim, func(i int, pod *corev1.Pod) {
				pod.Name, pod.Spec.NodeName = fmt.Sprintf("web-%07x", uint32(i)*2654435761>>4), fmt.Sprint("node-", i) // in no order
				test.edit(pod)
			})
			if test.name == "ending" {
				s.Marker.DeletionTimestamp = &now
				for i := range n {
					s.Probed = append(s.Probed, newProbes(fmt.Sprint("node-", i)))
				}
			}
			return func() error {
				if p := NewPlan(s); len(p.Held) != test.held(n) {
					return fmt.Errorf("%d things hold it up, want %d", len(p.Held), test.held(n))
				}
				return nil
			}
		})
	}
}
