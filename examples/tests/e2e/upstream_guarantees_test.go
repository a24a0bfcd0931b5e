// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"flag"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/podwright/podwright/examples/tests/testbed"
)

// guarantee is something that Kubernetes promises about StatefulSets.
type guarantee struct {
	name string
	// promise is what the documentation says, in our words.
	promise string
	// spec is what the manifest's spec has that other guarantees do not need: merge patches, in YAML.
	spec []string
	// play makes it come true. It runs once on every side.
	play func(*play)
}

// TestGuarantees tests that a manifest of Kubernetes' own StatefulSet, with nothing changed but its apiVersion, behaves here as it
// does there.
//
// What Kubernetes documents about StatefulSets is a table of guarantees (the files upstream_guarantees_*_test.go): each
// says what is promised, with which manifest, and plays it. Every one is played twice at the same time on one real
// control plane, in two namespaces. The controller manager of Kubernetes runs the StatefulSet of apps/v1, and ours runs
// that of apps.kruise.io/v1beta1. Both must keep the promise, as the history of their pods tells. When a play has
// settled, the status, pods, claims and revisions of both must be the same in every field. The exceptions are the
// differences that upstream_differences_test.go lists with their reasons. With -short a sample is played.
func TestGuarantees(t *testing.T) {
	if flag.Lookup("test.run").Value.String() == "" && !testing.Short() {
		t.Cleanup(func() { everyDifferenceIsSeen(t) })
	}
	t.Parallel()
	for _, g := range testbed.Sample(slices.Concat(scaling, updates, pods, claims, revisions, ownership), 5) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			plays := map[*side]*play{}
			t.Run("on", func(t *testing.T) {
				for _, side := range []*side{kubernetes, podwright} {
					t.Run(side.name, func(t *testing.T) {
						t.Parallel()
						p := newPlay(t, side, &g)
						g.play(p)
						plays[side] = p
					})
				}
			})
			compare(t, plays[kubernetes], plays[podwright])
		})
	}
}

// compare compares every settled moment of two plays.
func compare(t *testing.T, theirs, ours *play) {
	if theirs == nil || ours == nil {
		return // has failed, or was not asked for
	}
	if len(theirs.outcomes) != len(ours.outcomes) {
		t.Fatalf("%d settled moments on one side, %d on the other", len(theirs.outcomes), len(ours.outcomes))
	}
	for i := range theirs.outcomes {
		undoDifferences(&ours.outcomes[i])
		if diff := cmp.Diff(theirs.outcomes[i], ours.outcomes[i], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("settled at %s (-kubernetes +podwright):\n%s", theirs.outcomes[i].At, diff)
		}
	}
}
