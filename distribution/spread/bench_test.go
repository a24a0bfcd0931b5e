// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func benchmark(b *testing.B, run func(pods []*corev1.Pod, n int)) {
	for _, n := range []int{10, 1000, 10000} {
		pods := slices.Concat(some(n/3, "a"), some(n/3, "b"), some(n-2*(n/3), "c"))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run(pods, n)
			}
		})
	}
}

func BenchmarkAssign(b *testing.B) {
	ws := spreadOf(b, thirds)
	benchmark(b, func(pods []*corev1.Pod, n int) {
		assign(Input{Pod: unnamed(), Spread: ws, Workload: deployment(int32(n)), Pods: pods, Now: now})
	})
}

func BenchmarkCompute(b *testing.B) {
	ws := spreadOf(b, thirds)
	benchmark(b, func(pods []*corev1.Pod, n int) {
		Compute(State{Spread: ws, Workload: deployment(int32(n)), Pods: pods, Now: now})
	})
}
