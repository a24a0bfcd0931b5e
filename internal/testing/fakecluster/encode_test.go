// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"encoding/json"
	"testing"
)

func TestAppendJSON(t *testing.T) {
	for name, value := range map[string]any{
		"keys":    map[string]any{"b": int64(-1), "a": []any{nil, true, 1.5, "x"}, "": map[string]any{}},
		"escapes": []any{"<a>&", "\"\\", "\n\x01", "é\u2028", "\xff", `{"a":"b"}`},
		"none":    []any{[]any{}, []any(nil), map[string]any(nil), nil},
		"others":  struct{ A int }{7},
	} {
		want, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := appendJSON(nil, value); err != nil || string(got) != string(want) {
			t.Errorf("%s: got %s (error %v), want %s", name, got, err, want)
		}
	}
	if _, err := appendJSON(nil, map[string]any{"a": []any{func() {}}}); err == nil {
		t.Error("a function was encoded")
	}
}
