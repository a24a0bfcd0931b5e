// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// BenchmarkPlan plans for n pods on as many nodes. In "settled" nothing is to be written, in "new" all is, and in "stuck" no node is
// where the pods ran.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name string
		edit func(pod *corev1.Pod)
	}{{"settled", func(*corev1.Pod) {}}, {"new", func(*corev1.Pod) {}}, {"stuck", waiting}} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			s := &Snapshot{State: newState("web", requires(zone)), Now: at, Workload: &podstate.Workload{GroupVersionKind: statefulSets, Name: "web", UID: "web", Replicas: new(int32(n))}}
			s.Pods = planbench.Copies(b, webPod(), n, caches.Trim, func(i int, pod *corev1.Pod) {
				pod.Name, pod.Spec.NodeName = fmt.Sprint("web-", i), fmt.Sprint("node-", i)
				s.Nodes = append(s.Nodes, webNode(pod.Spec.NodeName, fmt.Sprint("zone-", i%3)))
				test.edit(pod)
			})
			replaced := 0
			switch test.name {
			case "settled":
				s.State.Status = *NewPlan(s).Status
			case "stuck":
				s.State.Status.PodStates = map[string]v1alpha1.PodState{}
				replaced = n
			}
			return func() error {
				if p := NewPlan(s); len(p.Problems) > 0 || (p.Status == nil) != (test.name == "settled") || len(p.Replace) != replaced {
					return fmt.Errorf("%d pods are replaced, status %t; problems %v", len(p.Replace), p.Status != nil, p.Problems)
				}
				return nil
			}
		})
	}
}
