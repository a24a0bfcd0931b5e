// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// large is a snapshot of n tainted and tolerated nodes in a zone, whose pods are of v1 and as state says.
func large(b *testing.B, n int, text, state string) *Snapshot {
	set := setOf(b, text)
	set.Spec.Template.Spec.NodeSelector = map[string]string{"zone": "a"}
	set.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "pool", Operator: corev1.TolerationOpExists}}
	s := place(b, set, "")
	for i := range n {
		node := newNode(fmt.Sprintf("node-%d", i))
		node.Labels["kubernetes.io/os"] = "linux"
		node.Spec.Taints = []corev1.Taint{{Key: "pool", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
		if _, err := caches.Trim(node); err != nil {
			b.Fatal(err)
		}
		s.Nodes = append(s.Nodes, node)
	}
	s.Pods = planbench.Copies(b, podOn(b, s, "n", state, 0), n, caches.Trim, func(i int, pod *corev1.Pod) {
		pod.Name, pod.Spec.NodeName = "pod-of-"+s.Nodes[i].Name, s.Nodes[i].Name
	})
	return s
}

// BenchmarkPlan: a plan for 5,000 nodes on which nothing is to be done takes 5 ms at most.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name  string
		setUp func(b *testing.B, n int) *Snapshot
	}{
		{"settled", func(b *testing.B, n int) *Snapshot {
			s := large(b, n, "{}", "v1")
			s.Set.Spec.Template.Spec.Containers[0].Image = "v1"
			s.Set.Status = *NewPlan(s).Status
			return s
		}},
		{"update", func(b *testing.B, n int) *Snapshot { return large(b, n, rolling+"maxUnavailable: 10%}}}", "v1") }},
		{"in-place", func(b *testing.B, n int) *Snapshot { return large(b, n, inPlace, "v1") }},
		{"all-down", func(b *testing.B, n int) *Snapshot {
			return large(b, n, rolling+"maxUnavailable: 10%, partition: 3}}}", "v1+down")
		}},
		{"begin", func(b *testing.B, n int) *Snapshot {
			s := large(b, n, "{}", "v1")
			s.Pods = nil
			return s
		}},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			s := test.setUp(b, n)
			return func() error { return planbench.Problems(NewPlan(s).Problems) }
		}, 5_000)
	}
}
