// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// settledScenario is a settled CloneSet of n pods.
func settledScenario(b *testing.B, n int) *setScenario {
	w := newScenario(b)
	w.Spec(fmt.Sprint("replicas=", n), "type=InPlaceIfPossible")
	for len(w.Pods) < n {
		w.apply(NewPlan(w.snapshot()))
	}
	for i, pod := range w.Pods {
		pod.Spec.NodeName = fmt.Sprintf("node-%d", i%100)
		pod.Labels["lifecycle.apps.kruise.io/state"] = "Normal"
		pod.Status.Phase = corev1.PodRunning
		w.SetCondition(pod, "InPlaceUpdateReady", corev1.ConditionTrue)
		w.SetCondition(pod, "KruisePodReady", corev1.ConditionTrue)
		for _, c := range pod.Spec.Containers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: true})
		}
		w.Recompute(pod)
	}
	w.set.Status = *NewPlan(w.snapshot()).Status
	return w
}

func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		settled := settledScenario(b, n)
		b.Run(fmt.Sprintf("settled/%d", n), func(b *testing.B) { benchmarkPlan(b, settled) })

		rollout := settledScenario(b, n)
		rollout.Spec("image=nginx:2")
		b.Run(fmt.Sprintf("update/%d", n), func(b *testing.B) { benchmarkPlan(b, rollout) })

		scaleIn := settledScenario(b, n)
		scaleIn.Spec(fmt.Sprint("replicas=", n/2))
		b.Run(fmt.Sprintf("scale-in/%d", n), func(b *testing.B) { benchmarkPlan(b, scaleIn) })
	}
}

func benchmarkPlan(b *testing.B, w *setScenario) {
	s := w.snapshot()
	b.ReportAllocs()
	for b.Loop() {
		if p := NewPlan(s); len(p.Problems) > 0 {
			b.Fatal(p.Problems)
		}
	}
}
