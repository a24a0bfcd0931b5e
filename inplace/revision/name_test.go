// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/inplace/revision"
)

func TestName(t *testing.T) {
	for _, tt := range []struct{ name, parent, want string }{
		{"CS-CR2: name and hash", "demo", "demo-75d46fb977"},
		{"CS-CR2: 223 bytes are kept", strings.Repeat("a", 223), strings.Repeat("a", 223) + "-75d46fb977"},
		{"CS-CR2: more is cut", strings.Repeat("a", 224), strings.Repeat("a", 223) + "-75d46fb977"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := revision.Name(tt.parent, "75d46fb977"); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestShortHash(t *testing.T) {
	for in, want := range map[string]string{"a-b-c": "c", "c": "c", "": "", "a-": ""} {
		if got := revision.ShortHash(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
