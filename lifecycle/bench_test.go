// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
)

// perPod measures what is done for each pod of a workload.
func perPod(b *testing.B, name string, do func()) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("%spods=%d", name, n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range n {
					do()
				}
			}
		})
	}
}

// BenchmarkRefresh is one reconcile of all pods of a workload: settled ones, and
// ones that all finish an update at once.
func BenchmarkRefresh(b *testing.B) {
	l := lifecycleOf(b, `inPlaceUpdate: {labelsHandler: {a: "true"}, markPodNotReady: true}`)
	in := lifecycle.RefreshInput{AtTarget: true, InPlaceComplete: true}
	for name, pod := range map[string]*corev1.Pod{"settled/": newPod("Normal", "gate"), "finishing/": newPod("Updating", "out="+otherKey+","+updateKey)} {
		perPod(b, name, func() {
			var p podpatch.Patch
			lifecycle.Refresh(&p, pod, l, in, now)
		})
	}
}

func BenchmarkAvailable(b *testing.B) {
	pod := newPod("Normal", "gate")
	perPod(b, "", func() {
		if !lifecycle.Available(pod, 10, now) {
			b.Fatal("not available")
		}
	})
}

// BenchmarkHeld is one reconcile of pods that all wait for their preDelete hook,
// with the reason in words for each.
func BenchmarkHeld(b *testing.B) {
	l := lifecycleOf(b, `preDelete: {labelsHandler: {a: "true", b: "true"}, finalizersHandler: [f], markPodNotReady: true}`)
	pod := newPod("PreparingDelete", "a", "finalizer=f", "out="+deleteKey)
	perPod(b, "", func() {
		var p podpatch.Patch
		if now, _ := lifecycle.BeginDelete(&p, pod, l, now); now {
			b.Fatal("not held")
		}
	})
}
