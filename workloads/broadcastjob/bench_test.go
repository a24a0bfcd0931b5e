// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// largeScenario is a job of n nodes, with requests, which are tainted and tolerated.
func largeScenario(b *testing.B, n int) *jobScenario {
	w := newScenario(b)
	w.job.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "pool", Operator: corev1.TolerationOpExists}}
	w.job.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("100m")}
	w.job.Spec.FailurePolicy.Type = "Continue"
	for _, name := range nodeNames(n) {
		w.addNodeUnseen(name)
	}
	return w
}

func (w *jobScenario) addNodeUnseen(name string) {
	node := newNode(name)
	node.Labels = map[string]string{"zone": "a", "kubernetes.io/os": "linux"}
	node.Spec.Taints = []corev1.Taint{{Key: "pool", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("4")}
	w.nodes = append(w.nodes, node)
}

func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{10, 1_000, 5_000} {
		begin := largeScenario(b, n)
		b.Run(fmt.Sprintf("begin/%d", n), func(b *testing.B) { benchmarkPlan(b, begin) })

		runs := largeScenario(b, n)
		runs.apply(NewPlan(runs.snapshot()))
		for i, pod := range runs.pods {
			pod.Spec.NodeName, pod.Status.Phase = scheduler.NodeOf(pod), corev1.PodRunning
			if i%2 == 0 {
				pod.Status.Phase = corev1.PodSucceeded
			}
		}
		b.Run(fmt.Sprintf("under-way/%d", n), func(b *testing.B) { benchmarkPlan(b, runs) })

		runs.apply(NewPlan(runs.snapshot()))
		b.Run(fmt.Sprintf("settled/%d", n), func(b *testing.B) { benchmarkPlan(b, runs) })
	}
}

func benchmarkPlan(b *testing.B, w *jobScenario) {
	s := w.snapshot()
	b.ReportAllocs()
	for b.Loop() {
		if p := NewPlan(s); len(p.Problems) > 0 {
			b.Fatal(p.Problems)
		}
	}
}
