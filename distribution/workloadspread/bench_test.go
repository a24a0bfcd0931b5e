// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// BenchmarkPlan plans for n pods of a Deployment. They are in two subsets if nothing is to be done, or in one that has no room
// for them. Or they are in no subset of a new WorkloadSpread, which adopts them.
func BenchmarkPlan(b *testing.B) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const halves = "subsets: [{name: a, maxReplicas: 50%}, {name: b}]"
	for _, test := range []struct {
		name, spec string
		subsets    []string // of pods in turn
		does       func(p *Plan) int
	}{
		{"settled", halves, []string{"a", "b"}, func(p *Plan) int { return len(p.Patches) + len(p.Deletions) }},
		{"full", "{subsets: [{name: a}, {name: b}], scheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 30}}}", []string{"a"},
			func(p *Plan) int { return len(p.Deletions) }},
		{"new", halves, []string{""}, func(p *Plan) int { return len(p.Patches) }},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			s := &Snapshot{Spread: newSpread(b, "web", test.spec), Now: begun.Add(time.Hour), Nodes: map[string]*corev1.Node{}}
			s.Workload = &spread.Workload{GroupKind: spread.Deployments, Name: "web", UID: "web", Replicas: new(int32(n))}
			owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "rs", Controller: new(true)}
			one := newPod("web-1", "", owner, func(pod *corev1.Pod) {
				pod.CreationTimestamp, pod.Annotations = metav1.NewTime(begun), map[string]string{}
				pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
					{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(begun)}}}
			})
			s.Pods = planbench.Copies(b, one, n, caches.Trim, func(i int, pod *corev1.Pod) {
				pod.Name, pod.Spec.NodeName = fmt.Sprintf("web-1-%05x", i), fmt.Sprint("node-", i/100)
				s.Nodes[pod.Spec.NodeName] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName}}
				if subset := test.subsets[i%len(test.subsets)]; subset != "" {
					pod.Annotations = map[string]string{v1alpha1.MatchedWorkloadSpreadAnnotation: fmt.Sprintf(`{"name":"web","subset":%q}`, subset)}
				}
				if test.name == "full" {
					waiting(pod)
				}
			})
			want := n
			if test.name == "settled" {
				settle(s)
				want = 0
			}
			return func() error {
				if p := NewPlan(s); len(p.Problems) > 0 || test.does(p) != want {
					return fmt.Errorf("the plan does %d things, want %d; problems %v", test.does(p), want, p.Problems)
				}
				return nil
			}
		})
	}
}

// settle writes what a plan writes.
func settle(s *Snapshot) {
	p := NewPlan(s)
	written := map[*corev1.Pod]*corev1.Pod{}
	for i := range p.Patches {
		pod := p.Patches[i].Pod.DeepCopy()
		for key, value := range p.Patches[i].Annotations {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, *value)
		}
		written[p.Patches[i].Pod] = pod
	}
	for i, pod := range s.Pods {
		s.Pods[i] = cmp.Or(written[pod], pod)
	}
	s.Spread.Status = *p.Status
}
