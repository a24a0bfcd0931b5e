// SPDX-License-Identifier: Apache-2.0

package sidecarset

import "testing"

// Which names are those of one of both hot containers. (SCS-28)
func TestHotBase(t *testing.T) {
	for name, want := range map[string]string{
		"mesh-1": "mesh", "mesh-2": "mesh", "mesh-1-2": "mesh-1", "m-1": "m", // of a hot one
		"mesh": "", "mesh-3": "", "mesh-0": "", "mesh1": "", "mesh-11": "", "log": "", "m": "", "-1": "", "": "", // of none
	} {
		if got := hotBase(name); got != want {
			t.Errorf("%q is one of both hot containers of %q, want %q", name, got, want)
		}
	}
}
