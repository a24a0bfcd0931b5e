// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/planbench"
)

// BenchmarkPlan is a plan for a job before its first injection, and in the midst of them.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name   string
		states []string
	}{
		{"new", []string{""}},
		{"half", []string{"running", "", "exit0", ""}},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			words := make([]string, n)
			for i := range words {
				words[i] = fmt.Sprintf("web-%d:%s", i, test.states[i%len(test.states)])
			}
			s := place(b, jobOf(b, "spec: {parallelism: 100000}"), strings.Join(words, " "))
			return func() error {
				if plan := NewPlan(s); len(plan.Inject) == 0 {
					return errors.New("nothing is injected")
				}
				return nil
			}
		})
	}
}
