// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"testing"

	"github.com/podwright/podwright/inplace/revision"
)

func TestEncode(t *testing.T) {
	got, err := revision.Encode(map[string]any{"b": "<\b", "a": struct{ Z, A int }{1, 2}})
	if want := `{"a":{"Z":1,"A":2},"b":"\u003c\u0008"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if _, err := revision.Encode(func() {}); err == nil {
		t.Error("no error for a function")
	}
}
