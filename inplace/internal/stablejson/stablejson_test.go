// SPDX-License-Identifier: Apache-2.0

package stablejson_test

import (
	"encoding/json"
	"testing"

	"github.com/podwright/podwright/inplace/internal/stablejson"
)

func TestMarshal(t *testing.T) {
	for name, tt := range map[string]struct {
		in   any
		want string
	}{
		"keys are sorted at every level": {map[string]any{"b": map[string]any{"d": 1, "c": 2}, "a": nil}, `{"a":null,"b":{"c":2,"d":1}}`},
		"HTML characters are escaped":    {"<a>&", `"\u003ca\u003e\u0026"`},
		"backspace and form feed":        {"a\bb\fc", `"a\u0008b\u000cc"`},
		"a backslash before b stays":     {`a\b\\f`, `"a\\b\\\\f"`},
		"other escapes stay":             {"\t\n\r\"\\\u2028\x01", `"\t\n\r\"\\\u2028\u0001"`},
	} {
		if got, err := stablejson.Marshal(tt.in); err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, want %s, error %v", name, got, tt.want, err)
		}
	}
	if _, err := stablejson.Marshal(make(chan int)); err == nil {
		t.Error("a channel was encoded")
	}
}

func FuzzMarshal(f *testing.F) {
	for _, s := range []string{"", "a", "\\b", "\b\f", `\\\b`, "<>&", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := stablejson.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var a, b string
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if err := json.Unmarshal(plain, &b); err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Errorf("%q became %q", b, a)
		}
	})
}
