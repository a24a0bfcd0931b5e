// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// PPM-4.7: a message takes 1024 bytes in JSON at most, and is text.
func TestOutputIsBounded(t *testing.T) {
	for _, test := range []struct{ name, printed, want string }{
		{"nothing", "", ""},
		{"as it was printed", " 3 players\n", " 3 players\n"},
		{"as much as there may be", strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		{"more", strings.Repeat("x", 1<<20), strings.Repeat("x", 1024)},
		{"what JSON escapes", strings.Repeat("\x00", 1024), strings.Repeat("\x00", 170)},
		{"a character is not cut", strings.Repeat("x", 1023) + "é", strings.Repeat("x", 1023)},
		{"what is no text", "a\xff\xfeb", "a\uFFFDb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := output([]byte(test.printed))
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if data, err := json.Marshal(got); err != nil || len(data) > v1alpha1.MaxProbeMessage+2 {
				t.Errorf("%d bytes, error %v", len(data), err)
			}
		})
	}
}
