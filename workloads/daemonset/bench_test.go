// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// large is a snapshot of n tainted and tolerated nodes in a zone, whose pods are of v1.
func large(b *testing.B, n int, text string) *Snapshot {
	set := setOf(b, text)
	set.Spec.Template.Spec.NodeSelector = map[string]string{"zone": "a"}
	set.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "pool", Operator: corev1.TolerationOpExists}}
	s := place(b, set, "")
	pod := podOn(b, s, "n", "v1", 0)
	for i := range n {
		node := newNode(fmt.Sprintf("node-%d", i))
		node.Labels["kubernetes.io/os"] = "linux"
		node.Spec.Taints = []corev1.Taint{{Key: "pool", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
		s.Nodes = append(s.Nodes, node)
		copied := pod.DeepCopy()
		copied.Name, copied.UID, copied.Spec.NodeName = "pod-of-"+node.Name, "uid-of-"+pod.UID, node.Name
		s.Pods = append(s.Pods, copied)
	}
	return s
}

// BenchmarkPlan: a plan for 5,000 nodes takes 20 ms at most.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{10, 1_000, 5_000} {
		run := func(name string, s *Snapshot) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if p := NewPlan(s); len(p.Problems) > 0 {
						b.Fatal(p.Problems)
					}
				}
			})
		}
		settled := large(b, n, "{}")
		settled.Set.Spec.Template.Spec.Containers[0].Image = "v1"
		settled.Set.Status = *NewPlan(settled).Status
		run("settled", settled)
		run("update", large(b, n, rolling+"maxUnavailable: 10%}}}"))
		run("in place", large(b, n, inPlace))
		down := large(b, n, rolling+"maxUnavailable: 10%, partition: 3}}}")
		for _, pod := range down.Pods {
			alter(b, pod, "down")
		}
		run("all down", down)
		begin := large(b, n, "{}")
		begin.Pods = nil
		run("begin", begin)
	}
}
