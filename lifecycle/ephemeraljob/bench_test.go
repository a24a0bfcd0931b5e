// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkPlan is a plan for a job before its first injection, and in the midst of them.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		for name, states := range map[string][]string{"new": {""}, "half": {"running", "", "exit0", ""}} {
			words := make([]string, n)
			for i := range words {
				words[i] = fmt.Sprintf("web-%d:%s", i, states[i%len(states)])
			}
			s := place(b, jobOf(b, "spec: {parallelism: 100000}"), strings.Join(words, " "))
			b.Run(fmt.Sprintf("%s/pods=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if plan := NewPlan(s); len(plan.Inject) == 0 {
						b.Fatal("nothing is injected")
					}
				}
			})
		}
	}
}
