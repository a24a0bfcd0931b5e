// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheInputIsNotChanged(t *testing.T) {
	in, want := input(t), input(t)
	d := decide(in)
	d.Create[0].Labels["app"] = "changed"
	d.Create[0].Spec.PodSelector.MatchLabels["app"] = "changed"
	if diff := cmp.Diff(want, in, cmp.AllowUnexported(Input{})); diff != "" {
		t.Errorf("the decision and its input share memory (-want +got):\n%s", diff)
	}
}

func BenchmarkDecide(b *testing.B) {
	undecided, decidedInput, settled := input(b), input(b), input(b)
	decidedInput.to.Labels[created] = "true"
	arrived(settled)
	for _, bench := range []struct {
		name string
		in   *Input
	}{{"new revision", undecided}, {"decided", decidedInput}, {"settled", settled}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				decide(bench.in)
			}
		})
	}
}
