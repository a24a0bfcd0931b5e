// SPDX-License-Identifier: Apache-2.0

package editing

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestEdited tells edits of an element of a list that stays from elements that come and go.
func TestEdited(t *testing.T) {
	for _, test := range []struct {
		path, before, after string
		want                bool
	}{
		{"a.b", `{"a":{"b":1}}`, `{"a":{"b":2}}`, true},
		{"a.b", `{"a":{"b":1}}`, `{"a":{"b":1,"c":2}}`, false},
		{"a.b", `{}`, `{"a":{"b":1}}`, true},
		{"list[].b", `{"list":[{"name":"x","b":1}]}`, `{"list":[{"name":"x","b":2}]}`, true},
		{"list[].b", `{"list":[{"name":"x","b":1}]}`, `{"list":[{"name":"y"},{"name":"x","b":1}]}`, false},
		{"list[].b", `{"list":[{"name":"x","b":1}]}`, `{"list":[{"name":"y","b":2}]}`, false},
		{"list[].b", `{"list":[{"name":"x"}]}`, `{"list":[{"name":"x","b":2}]}`, true},
		{"list[].name", `{"list":[{"name":"x"}]}`, `{"list":[{"name":"y"}]}`, true},
		{"list[].b", `{"list":[{"b":1}]}`, `{"list":[{"b":2}]}`, true},
		{"list[].b", `{"list":[{"b":1}]}`, `{"list":[{"b":2},{"b":1}]}`, false},
		{"list[].c[].b", `{"list":[{"name":"x","c":[{"b":1}]}]}`, `{"list":[{"name":"x","c":[{"b":2}]}]}`, true},
		{"list", `{"list":[1]}`, `{"list":[1,2]}`, true},
	} {
		read := func(text string) (tree any) {
			if err := json.Unmarshal([]byte(text), &tree); err != nil {
				t.Fatal(err)
			}
			return tree
		}
		if got := edited(read(test.before), read(test.after), strings.Split(test.path, ".")); got != test.want {
			t.Errorf("%s of %s and %s: edited %t, want %t", test.path, test.before, test.after, got, test.want)
		}
	}
}
