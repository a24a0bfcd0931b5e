// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// settledScenario is a settled StatefulSet of n pods, each with a claim.
func settledScenario(b *testing.B, n int) *setScenario {
	w := newScenario(b)
	w.Spec("replicas=1", "policy=Parallel", "podUpdatePolicy=InPlaceIfPossible", "gate=InPlaceUpdateReady", "claims=data")
	w.apply(NewPlan(w.snapshot()))
	first, claim := w.Pods[0], w.Claims[0]
	first.Status.Phase = corev1.PodRunning
	w.SetCondition(first, "InPlaceUpdateReady", corev1.ConditionTrue)
	w.SetCondition(first, "KruisePodReady", corev1.ConditionTrue)
	for _, c := range first.Spec.Containers {
		first.Status.ContainerStatuses = append(first.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: true})
	}
	w.Recompute(first)
	w.Spec(fmt.Sprint("replicas=", n))
	w.Claims = nil
	w.Pods = planbench.Copies(b, first, n, caches.Trim, func(i int, pod *corev1.Pod) {
		pod.Name, pod.Spec.NodeName = fmt.Sprint(strings.TrimSuffix(first.Name, "0"), i), fmt.Sprintf("node-%d", i%100)
		pod.Labels[appsv1.PodIndexLabel] = fmt.Sprint(i)
		pod.Labels[appsv1.StatefulSetPodNameLabel] = pod.Name
		named := func(name string) string { return strings.Replace(name, first.Name, pod.Name, 1) }
		pod.Spec.Hostname = named(pod.Spec.Hostname)
		for v := range pod.Spec.Volumes {
			if mounted := pod.Spec.Volumes[v].PersistentVolumeClaim; mounted != nil {
				mounted.ClaimName = named(mounted.ClaimName)
			}
		}
		copied := claim.DeepCopy()
		copied.Name = named(claim.Name)
		w.Claims = append(w.Claims, copied)
	})
	for range 5 { // the status follows
		if plan := NewPlan(w.snapshot()); plan.Status != nil {
			w.set.Status = *plan.Status
		}
	}
	if plan := NewPlan(w.snapshot()); acts(plan) {
		b.Fatalf("not settled: %v, status %+v after %+v", plan, plan.Status, w.set.Status)
	}
	return w
}

// BenchmarkPlan plans for pods with one claim each.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name string
		spec func(n int) []string
		does func(p *Plan) int
		want func(n int) int
	}{
		{"settled", func(int) []string { return nil }, func(p *Plan) int { return len(p.Patch) + len(p.Delete) + len(p.Create) }, func(int) int { return 0 }},
		{"update", func(int) []string { return []string{"image=nginx:2", "maxUnavailable=20%"} }, func(p *Plan) int { return len(p.Patch) }, func(n int) int { return n / 5 }},
		{"scale-in", func(n int) []string { return []string{fmt.Sprint("replicas=", n/2)} }, func(p *Plan) int { return len(p.Delete) }, func(n int) int { return n / 2 }},
		{"ordered-scale-in", func(n int) []string { return []string{fmt.Sprint("replicas=", n/2), "policy=OrderedReady"} }, func(p *Plan) int { return len(p.Delete) }, func(int) int { return 1 }},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			w := settledScenario(b, n)
			if words := test.spec(n); words != nil {
				w.Spec(words...)
			}
			s := w.snapshot()
			return func() error {
				if p := NewPlan(s); len(p.Problems) > 0 || test.does(p) != test.want(n) {
					return fmt.Errorf("the plan does %d things, want %d; problems: %v", test.does(p), test.want(n), p.Problems)
				}
				return nil
			}
		})
	}
}
