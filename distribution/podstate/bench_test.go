// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"fmt"
	"testing"

	"github.com/podwright/podwright/distribution/podstate"
)

// What it costs to compute a settled status, with a node for every pod.
func BenchmarkCompute(b *testing.B) {
	for _, count := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			pods, nodes := manyPods(count, "node-%d")
			s := newState(requires(host))
			in := podstate.Input{State: s, Workload: newWorkload(int32(count)), Pods: pods, Nodes: nodes, Now: start}
			s.Status = podstate.Compute(in).Status
			b.ReportAllocs()
			for b.Loop() {
				podstate.Compute(in)
			}
		})
	}
}
