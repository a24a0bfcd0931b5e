// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"math"
	"testing"
)

func TestSplitOrdinal(t *testing.T) {
	for _, test := range []struct {
		name, parent string
		ordinal      int32
		ok           bool
	}{
		{"web-0", "web", 0, true},
		{"web-10", "web", 10, true},
		{"data-web-7", "data-web", 7, true},
		{"web-1-2", "web-1", 2, true},
		{"web--1", "web-", 1, true}, // the set web-, which no API server takes
		{"web-2147483647", "web", math.MaxInt32, true},
		{"web-2147483648", "", 0, false},
		{"web-99999999999999999999", "", 0, false},
		{"web-00", "", 0, false},
		{"web-01", "", 0, false},
		{"web-+1", "", 0, false},
		{"web-1_000", "", 0, false},
		{"web-0x1", "", 0, false},
		{"web-x7k2p", "", 0, false},
		{"web-", "", 0, false},
		{"web", "", 0, false},
		{"-0", "", 0, false},
		{"0", "", 0, false},
		{"", "", 0, false},
		{"web-٣", "", 0, false},
	} {
		parent, ordinal, ok := SplitOrdinal(test.name)
		if parent != test.parent || ordinal != test.ordinal || ok != test.ok {
			t.Errorf("%q: got %q, %d, %v; want %q, %d, %v", test.name, parent, ordinal, ok, test.parent, test.ordinal, test.ok)
		}
	}
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
