// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"testing"

	"github.com/podwright/podwright/internal/testing/planbench"
)

// BenchmarkPlan is a plan for a job of n nodes, half of which have not begun.
func BenchmarkPlan(b *testing.B) {
	planbench.Run(b, "half", func(b *testing.B, n int) func() error {
		s := snapshot(newJob(b, "parallelism: 10%"))
		for i, phase := range []string{"Succeeded", "Pulling"} {
			one := nodeImage("", phase)
			for j := range n / 4 {
				of := *one
				of.Name = fmt.Sprint("n", i, "-", j)
				s.NodeImages[of.Name] = &of
			}
		}
		for j := range n / 2 {
			name := fmt.Sprint("new-", j)
			s.NodeImages[name] = nodeImage(name)
		}
		return func() error {
			NewPlan(s)
			return nil
		}
	})
}
