// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
)

// settledPods have been updated in place once, as most pods of a cluster.
func settledPods(b *testing.B, n int) []*corev1.Pod {
	b.Helper()
	pod := begin(b, running(template()), calculate(b, template(), template("c1=c1:2")), 0)
	kubelet(pod)
	agent(b, pod)
	pod, _ = refresh(b, pod, after(10))
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = pod.DeepCopy()
	}
	return pods
}

func BenchmarkRefreshSettled(b *testing.B) {
	for _, n := range []int{1, 10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("%d pods", n), func(b *testing.B) {
			pods := settledPods(b, n)
			b.ReportAllocs()
			var p podpatch.Patch
			for b.Loop() {
				for _, pod := range pods {
					if progress, err := inplace.Refresh(&p, pod, start()); err != nil || !progress.Complete {
						b.Fatal(progress, err)
					}
				}
			}
		})
	}
}

func BenchmarkRefreshUpdating(b *testing.B) {
	pod := begin(b, running(template()), calculate(b, template(), template("c1=c1:2")), 0)
	agent(b, pod)
	b.ReportAllocs()
	for b.Loop() {
		if progress, err := inplace.Refresh(&podpatch.Patch{}, pod, after(1)); err != nil || progress.Complete {
			b.Fatal(progress, err)
		}
	}
}

func BenchmarkBegin(b *testing.B) {
	pod, u := running(template()), calculate(b, template(), template("c1=c1:2"))
	b.ReportAllocs()
	for b.Loop() {
		if err := inplace.Begin(&podpatch.Patch{}, pod, u, inplace.BeginOptions{Now: start()}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCalculate(b *testing.B) {
	for name, change := range map[string]string{"in place": "c1=c1:2", "recreate": "env-c1=A:metadata.name"} {
		b.Run(name, func(b *testing.B) {
			from, to := rev(b, "a", template()), rev(b, "b", template(change))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := inplace.Calculate(from, to, inplace.CalculateOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A settled pod must cost nothing: a reconcile looks at every pod of a workload.
func TestRefreshSettledDoesNotAllocate(t *testing.T) {
	pod := begin(t, running(template()), calculate(t, template(), template("c1=c1:2")), 0)
	kubelet(pod)
	pod, _ = refresh(t, pod, after(10))
	var p podpatch.Patch
	if n := testing.AllocsPerRun(100, func() {
		if progress, err := inplace.Refresh(&p, pod, start()); err != nil || !progress.Complete {
			t.Fatal(progress, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
