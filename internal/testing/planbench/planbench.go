// SPDX-License-Identifier: Apache-2.0

// Package planbench runs the benchmarks of planners: for each kind the same sizes, under the same names, so that one can see
// how plans grow.
package planbench

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Sizes are the numbers of objects that plans are made for.
var Sizes = []int{1_000, 10_000, 100_000}

// Run runs what once at each size. setUp makes what is planned for, and returns the plan to measure. plan returns what
// is wrong with it; nil for nothing. also are sizes beside Sizes. Beside the mean, the least CPU time of a plan is reported: what other programs do on the
// machine is hardly in it.
func Run(b *testing.B, what string, setUp func(b *testing.B, n int) (plan func() error), also ...int) {
	for _, n := range slices.Sorted(slices.Values(slices.Concat(Sizes, also))) {
		b.Run(fmt.Sprintf("%s/%d", what, n), func(b *testing.B) {
			plan := setUp(b, n)
			runtime.LockOSThread() // spent is of one thread
			defer runtime.UnlockOSThread()
			least := time.Duration(1<<63 - 1)
			b.ReportAllocs()
			for b.Loop() {
				began := spent()
				err := plan()
				least = min(least, spent()-began)
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(least.Microseconds())/1000, "least-cpu-ms")
		})
	}
}

// Copies returns n copies of a pod as the cache of a controller holds them. Each is decoded by itself, changed by edit, and then
// trimmed, which has pods share what is equal. The first one is number 0 for edit.
func Copies(b *testing.B, pod *corev1.Pod, n int, trim func(any) (any, error), edit func(i int, pod *corev1.Pod)) []*corev1.Pod {
	encoded, err := pod.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = &corev1.Pod{}
		if err := pods[i].Unmarshal(encoded); err != nil {
			b.Fatal(err)
		}
		edit(i, pods[i])
		pods[i].UID = types.UID("uid-of-" + pods[i].Name)
		if _, err := trim(pods[i]); err != nil {
			b.Fatal(err)
		}
	}
	return pods
}
