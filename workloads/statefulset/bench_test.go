// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// settledScenario is a settled StatefulSet of n pods, each with a claim.
func settledScenario(b *testing.B, n int) *setScenario {
	w := newScenario(b)
	w.Spec(fmt.Sprint("replicas=", n), "policy=Parallel", "podUpdatePolicy=InPlaceIfPossible", "gate=InPlaceUpdateReady", "claims=data")
	for len(w.Pods) < n {
		w.apply(NewPlan(w.snapshot()))
	}
	for i, pod := range w.Pods {
		pod.Spec.NodeName = fmt.Sprintf("node-%d", i%100)
		pod.Status.Phase = corev1.PodRunning
		w.SetCondition(pod, "InPlaceUpdateReady", corev1.ConditionTrue)
		w.SetCondition(pod, "KruisePodReady", corev1.ConditionTrue)
		for _, c := range pod.Spec.Containers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: true})
		}
		w.Recompute(pod)
	}
	for range 2 { // the status follows
		if plan := NewPlan(w.snapshot()); plan.Status != nil {
			w.set.Status = *plan.Status
		}
	}
	if plan := NewPlan(w.snapshot()); acts(plan) {
		b.Fatalf("not settled: %+v", plan)
	}
	return w
}

// BenchmarkPlan plans for pods with one claim each.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		settled := settledScenario(b, n)
		benchmarkPlan(b, "settled", settled, func(p *Plan) int { return len(p.Patch) + len(p.Delete) + len(p.Create) }, 0)
		settled.Spec("image=nginx:2", "maxUnavailable=20%")
		benchmarkPlan(b, "update", settled, func(p *Plan) int { return len(p.Patch) }, n/5)
		settled.Spec("image=nginx:1", fmt.Sprint("replicas=", n/2))
		benchmarkPlan(b, "scale-in", settled, func(p *Plan) int { return len(p.Delete) }, n/2)
		settled.Spec("policy=OrderedReady")
		benchmarkPlan(b, "ordered scale-in", settled, func(p *Plan) int { return len(p.Delete) }, 1)
	}
}

// benchmarkPlan makes plans that do as many things as wanted.
func benchmarkPlan(b *testing.B, name string, w *setScenario, count func(*Plan) int, want int) {
	s := w.snapshot()
	b.Run(fmt.Sprintf("%s/%d", name, len(s.Pods)), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if p := NewPlan(s); len(p.Problems) > 0 || count(p) != want {
				b.Fatalf("%d, want %d; %v", count(p), want, p.Problems)
			}
		}
	})
}
