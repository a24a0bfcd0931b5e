// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"
)

func TestUnanswered(t *testing.T) {
	for _, c := range []struct {
		answered map[string]int
		failed   []error
		want     check
	}{
		{map[string]int{"1": 3, "2": 4}, nil, check{true, "0 of 7 HTTP requests failed; mesh:1 answered 3, mesh:2 answered 4"}},
		{map[string]int{"1": 3}, nil, check{false, "0 of 3 HTTP requests failed; mesh:1 answered 3, mesh:2 answered 0"}},
		{map[string]int{"1": 3, "2": 4}, []error{errors.New("refused"), nil}, check{false, "2 of 9 HTTP requests failed; mesh:1 answered 3, mesh:2 answered 4; the first: refused"}},
	} {
		if got := unanswered(c.answered, c.failed); got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}
