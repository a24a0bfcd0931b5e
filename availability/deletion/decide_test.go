// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"testing"

	"github.com/podwright/podwright/availability/deletion"
)

const (
	forbidden = "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection="
	always    = forbidden + "Always"
)

// counts are the kinds of which something has to be counted.
var counts = map[string]deletion.Children{"Namespace": deletion.ActivePods, "CustomResourceDefinition": deletion.ActiveObjects}

// DP-5: what is counted decides, and nothing else that is decided already.
func TestCounted(t *testing.T) {
	for _, test := range []struct {
		name     string
		decision deletion.Decision
		n        int
		want     string
	}{
		{"pods", deletion.Decision{Count: deletion.ActivePods}, 2, forbidden + "Cascading and active pods 2>0"},
		{"no pods", deletion.Decision{Count: deletion.ActivePods}, 0, ""},
		{"objects", deletion.Decision{Count: deletion.ActiveObjects}, 1, forbidden + "Cascading and active CRs 1>0"},
		{"no objects", deletion.Decision{Count: deletion.ActiveObjects}, 0, ""},
		{"refused already", deletion.Decision{Reason: "because"}, 0, "because"},
		{"allowed already", deletion.Decision{}, 3, ""},
	} {
		if got := test.decision.Counted(test.n); got != (deletion.Decision{Reason: test.want}) {
			t.Errorf("%s: %+v, want %q", test.name, got, test.want)
		}
	}
}
