// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/planbench"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// BenchmarkPlan plans for a virtual node of n pods, which alone has so many, with a probe each. In "settled" the pods have what results
// ask for, and in "results" none has that. In "new" the node is a real one and has no probes yet.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name  string
		words []string
		want  func(n int) int
	}{
		{"settled", []string{"label=idle:yes"}, func(int) int { return 0 }},
		{"results", nil, func(n int) int { return n }},
		{"new", nil, func(int) int { return 0 }},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			pods := planbench.Copies(b, newPod("web", append(test.words, "condition=Idle:True")...), n, caches.Trim, func(i int, pod *corev1.Pod) {
				pod.Name = fmt.Sprintf("web-%07x", uint32(i)*2654435761>>4) // in no order
			})
			s := newSnapshot(nil, pods, newMarker("games", newProbe("idle", "Idle", sets(v1alpha1.ProbeSucceeded, "idle=yes"))))
			if s.Serverless = test.name != "new"; s.Serverless {
				s.Node.Labels = map[string]string{"type": "virtual-kubelet"}
			}
			return func() error {
				p := NewPlan(s)
				if len(p.Patches) != test.want(n) || (p.Create == nil) == (test.name == "new") {
					return fmt.Errorf("%d patches, want %d; waiting %q", len(p.Patches), test.want(n), p.Waiting)
				}
				return nil
			}
		})
	}
}
