// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func BenchmarkNewPlan(b *testing.B) {
	for _, nodes := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(nodes, " nodes"), func(b *testing.B) {
			s := snapshot(newJob(b, "parallelism: 10%"))
			for i, phase := range []v1alpha1.ImagePullPhase{succeeded, pulling} {
				for j := range nodes / 4 {
					name := fmt.Sprint("n", i, "-", j)
					s.NodeImages[name] = nodeImage(name, given(phase))
				}
			}
			for j := range nodes / 2 {
				name := fmt.Sprint("new-", j)
				s.NodeImages[name] = nodeImage(name)
			}
			b.ReportAllocs()
			for b.Loop() {
				NewPlan(s)
			}
		})
	}
}
