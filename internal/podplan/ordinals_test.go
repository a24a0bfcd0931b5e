// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"testing"

	"github.com/podwright/podwright/internal/testing/patches"
)

func TestSplitOrdinal(t *testing.T) {
	patches.PlayRows(t, "testdata/ordinals.txt", nil, func(_ *testing.T, _ string, r *struct{ Name string }) string {
		parent, ordinal, ok := SplitOrdinal(r.Name)
		return fmt.Sprintf("%q %d %t", parent, ordinal, ok)
	})
}

func FuzzSplitOrdinal(f *testing.F) {
	f.Add("web-0")
	f.Add("web-01")
	f.Fuzz(func(t *testing.T, name string) {
		if parent, ordinal, ok := SplitOrdinal(name); ok && fmt.Sprintf("%s-%d", parent, ordinal) != name {
			t.Errorf("%q is read as %q and %d", name, parent, ordinal)
		}
	})
}
