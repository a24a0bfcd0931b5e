// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// BenchmarkPlan plans for n pods in a subset of three. In "blocked" a workload of the first kind, which goes in order, waits for the last
// of them. In "full" no node has room for any, so that other subsets run substitutes.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name  string
		setUp func(b *testing.B, n int) *Snapshot
	}{
		{"settled", func(b *testing.B, n int) *Snapshot {
			w := newWorld(b, newSet(b, fmt.Sprint("replicas: ", n), "topology: {subsets: [{name: a}, {name: b}, {name: c}]}"))
			name := w.settle().Revisions.Update.Name
			for i := range n {
				w.pod(fmt.Sprint("pod-", i), w.set("a").Object, name, true)
			}
			return &w.Snapshot
		}},
		{"blocked", func(b *testing.B, n int) *Snapshot {
			w := newWorld(b, newSet(b, fmt.Sprint("replicas: ", n), templateYAML(kinds[0], ""), fmt.Sprintf("topology: {subsets: [{name: a, replicas: %d}, {name: b}]}", n)))
			w.settle()
			set := w.set("a").Object
			for i := range n {
				w.pod(fmt.Sprint(set.GetName(), "-", i), set, "old", i < n-1)
			}
			return &w.Snapshot
		}},
		{"full", func(b *testing.B, n int) *Snapshot {
			z := newWorld(b, newSet(b, fmt.Sprint("replicas: ", n), templateYAML(Deployment, ""),
				"topology: {scheduleStrategy: {type: Adaptive, adaptive: {reserveUnschedulablePods: true}}, subsets: [{name: a}, {name: b}, {name: c}]}"))
			z.Features.AdaptiveScheduling, z.Now = true, start
			name := z.settle().Revisions.Update.Name
			for i := range n {
				z.pod(fmt.Sprint("pod-", i), z.set("a").Object, name, false).Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
					{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}
			}
			return &z.Snapshot
		}},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			s := test.setUp(b, n)
			return func() error { return rollout.ErrorOf(NewPlan(s).Problems) }
		})
	}
}
