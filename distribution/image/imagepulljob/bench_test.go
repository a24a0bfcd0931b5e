// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/planbench"
)

// BenchmarkPlan is a plan for a job of n nodes, half of which have not begun.
func BenchmarkPlan(b *testing.B) {
	planbench.Run(b, "half", func(b *testing.B, n int) func() error {
		s := snapshot(newJob(b, "parallelism: 10%"))
		for i, phase := range []v1alpha1.ImagePullPhase{succeeded, pulling} {
			for j := range n / 4 {
				name := fmt.Sprint("n", i, "-", j)
				s.NodeImages[name] = nodeImage(name, given(phase))
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
