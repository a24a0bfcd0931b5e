// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// BenchmarkRefresh is one reconcile of all pods of a workload: settled ones, and
// ones that all finish an update at once.
func BenchmarkRefresh(b *testing.B) {
	l := &v1alpha1.Lifecycle{InPlaceUpdate: markNotReady(hook([]string{"a"}))}
	in := lifecycle.RefreshInput{AtTarget: true, InPlaceComplete: true}
	for _, bench := range []struct {
		name string
		pod  *corev1.Pod
	}{
		{"settled", newPod(normal, gate)},
		{"finishing", newPod(updating, outOfService(otherKey+","+updateKey))},
	} {
		for _, n := range []int{10, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/pods=%d", bench.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					for range n {
						var p podpatch.Patch
						lifecycle.Refresh(&p, bench.pod, l, in, now)
					}
				}
			})
		}
	}
}

func BenchmarkAvailable(b *testing.B) {
	pod := newPod(normal, gate)
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range n {
					if !lifecycle.Available(pod, 10, now) {
						b.Fatal("not available")
					}
				}
			}
		})
	}
}

// BenchmarkHeld is one reconcile of pods that all wait for their preDelete hook,
// with the reason in words for each.
func BenchmarkHeld(b *testing.B) {
	l := &v1alpha1.Lifecycle{PreDelete: markNotReady(hook([]string{"a", "b"}, "f"))}
	pod := newPod(preparingDelete, label("a", "true"), finalizer("f"), outOfService(deleteKey))
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range n {
					var p podpatch.Patch
					if now, _ := lifecycle.BeginDelete(&p, pod, l, now); now {
						b.Fatal("not held")
					}
				}
			}
		})
	}
}
