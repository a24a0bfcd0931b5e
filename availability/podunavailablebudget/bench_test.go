// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/planbench"
	"github.com/podwright/podwright/internal/workload"
)

// BenchmarkPlan plans for a budget of n pods, of which some do not serve. "settled" has what was read of the pods before, as a
// controller does, and the others read all of them.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name    string
		unready func(i int) bool
		read    bool
	}{
		{"settled", func(int) bool { return false }, true},
		{"first", func(int) bool { return false }, false},
		{"half-down", func(i int) bool { return i%2 == 0 }, false},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			s := snapshotOf(newBudget("web", "10%", "of=ReplicaSet:web-1"), webPod(),
				&budget.Workload{GroupKind: workload.ReplicaSets, Name: "web-1", UID: "rs", Replicas: new(int32(n))})
			available := int32(n)
			s.Pods = planbench.Copies(b, webPod(), n, caches.Trim, func(i int, pod *corev1.Pod) {
				pod.Name = fmt.Sprintf("web-1-%07x", uint32(i)*2654435761>>4) // in no order
				if test.unready(i) {
					pod.Status.Conditions[0].Status = corev1.ConditionFalse
					available--
				}
			})
			if test.read {
				s.read = budget.Read(s.Pods...)
				s.candidates = budget.Candidates(s.Budget, s.read)
			}
			return func() error {
				if p := NewPlan(s); p.Problem != nil || p.Computed.CurrentAvailable != available {
					return fmt.Errorf("problem %v, plan %v", p.Problem, p)
				}
				return nil
			}
		})
	}
}
