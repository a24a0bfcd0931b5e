// SPDX-License-Identifier: Apache-2.0

package podplan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/internal/podplan"
)

func TestRanksByName(t *testing.T) {
	name := rapid.StringMatching(`(web-|web-a-long-name-|)[a-c0-1\-]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		names := slices.Concat(rapid.SliceOf(name).Draw(t, "names"), rapid.SliceOfN(name, 0, 200).Draw(t, "more names")) // a few, or so many that bytes are sorted
		want := slices.Sorted(slices.Values(names))
		got := make([]string, len(names))
		for i, rank := range podplan.RanksByName(names, func(name string) string { return name }) {
			got[rank] = names[i]
		}
		if diff := cmp.Diff(want, got); len(want) > 0 && diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
		podplan.SortByName(names, func(name string) string { return name })
		if !slices.Equal(want, names) {
			t.Errorf("sorted %q, want %q", names, want)
		}
	})
}
