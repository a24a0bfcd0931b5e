// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// BenchmarkPlan plans for the Eviction of one of the n pods of a workload, which has no room for it yet.
func BenchmarkPlan(b *testing.B) {
	planbench.Run(b, "waiting", func(b *testing.B, n int) func() error {
		s := snapshot()
		*s.Set.Spec.Replicas = int32(n)
		s.Pods = planbench.Copies(b, s.Pod, n, caches.Trim, func(i int, pod *corev1.Pod) { pod.Name = fmt.Sprint("web-", i) })
		s.Pod = s.Pods[n/2]
		s.Eviction.Spec.Target.Pod = &evictionresponder.PodReference{Name: s.Pod.Name, UID: s.Pod.UID}
		return func() error {
			if p := evictionresponder.NewPlan(s); len(p.Waiting) != 1 || p.Evict {
				return fmt.Errorf("the plan is %+v", p)
			}
			return nil
		}
	})
}
