// SPDX-License-Identifier: Apache-2.0

package podplan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/internal/podplan"
)

func TestSortByName(t *testing.T) {
	name := rapid.StringMatching(`(web-|web-a-long-name-|)[a-c0-1\-]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOf(name).Draw(t, "names")
		want := slices.Sorted(slices.Values(names))
		podplan.SortByName(names, func(name string) string { return name })
		if diff := cmp.Diff(want, names); len(want) > 0 && diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
	})
}
