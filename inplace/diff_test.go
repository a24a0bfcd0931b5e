// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"IP-2: equal", `{"a":[1,"x",null,{"b":true}]}`, `{"a":[1,"x",null,{"b":true}]}`, ""},
		{"IP-2: values", `{"a":1,"b":"x","c":null,"d":true}`, `{"a":2,"b":"y","c":0,"d":false}`, "replace /a; replace /b; replace /c; replace /d"},
		{"IP-2: keys", `{"a":1,"b":2}`, `{"b":2,"c":3}`, "remove /a; add /c"},
		{"IP-2: deep", `{"a":{"b":{"c":1}}}`, `{"a":{"b":{"c":2,"d":1}}}`, "replace /a/b/c; add /a/b/d"},
		{"IP-2: lists by index", `[1,2,3]`, `[2,3]`, "replace /0; replace /1; remove /2"},
		{"IP-2: lists grow", `[1]`, `[1,2,3]`, "add /1; add /2"},
		{"IP-2: another type", `{"a":{},"b":[],"c":1,"d":{}}`, `{"a":[],"b":{},"c":{},"d":1}`, "replace /a; replace /b; replace /c; replace /d"},
		{"IP-2: null and absent differ", `{"a":null}`, `{}`, "remove /a"},
		{"IP-2: pointers are escaped", `{"x/y~z":1}`, `{"x/y~z":2}`, "replace /x~1y~0z"},
		{"IP-2: the whole document", `1`, `"1"`, "replace "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var from, to any
			if err := json.Unmarshal([]byte(tt.from), &from); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tt.to), &to); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, op := range diff(nil, "", from, to) {
				got = append(got, op.op+" "+op.path)
			}
			if d := cmp.Diff(tt.want, strings.Join(got, "; ")); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
