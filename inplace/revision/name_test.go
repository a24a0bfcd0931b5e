// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/inplace/revision"
)

func TestHash(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		count      *int32
		want       string
	}{
		{"CS-CR2: defaults, collision count 0", "demo-defaults.json", new(int32(0)), "75d46fb977"},
		{"CS-CR2: no collision count is 0", "demo-defaults.json", nil, "75d46fb977"},
		{"CS-CR2: defaults, collision count 1", "demo-defaults.json", new(int32(1)), "75d46fb976"},
		{"CS-CR2: no defaults", "demo.json", nil, "7cb569c9cc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := revision.Hash(golden(t, tt.data), tt.count); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

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

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		label, revision string
		want            bool
	}{
		{"demo-75d46fb977", "demo-75d46fb977", true},
		{"75d46fb977", "demo-75d46fb977", true},
		{"demo-75d46fb977", "75d46fb977", true},
		{"other-75d46fb977", "demo-75d46fb977", true},
		{"75d46fb977", "75d46fb977", true},
		{"demo-75d46fb976", "demo-75d46fb977", false},
		{"75d46fb976", "demo-75d46fb977", false},
		{"", "demo-75d46fb977", false},
		{"demo-75d46fb977", "", false},
		{"", "", false},
	} {
		t.Run(fmt.Sprintf("revision comparison of a pod: %q and %q", tt.label, tt.revision), func(t *testing.T) {
			if got := revision.Matches(tt.label, tt.revision); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
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
