// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"
)

// outcome is that of some requests.
type outcome struct {
	answered map[string]int
	failed   []error
}

func (o outcome) Outcome() (map[string]int, []error) { return o.answered, o.failed }

func TestUnanswered(t *testing.T) {
	for _, c := range []struct {
		outcome outcome
		want    check
	}{
		{outcome{map[string]int{"1": 3, "2": 4}, nil}, check{true, "0 of 7 HTTP requests failed; version 1 answered 3; version 2 answered 4"}},
		{outcome{map[string]int{"1": 3}, nil}, check{false, "0 of 3 HTTP requests failed; version 1 answered 3; version 2 answered 0"}},
		{outcome{map[string]int{"1": 3, "2": 4}, []error{errors.New("refused"), nil}}, check{false, "2 of 9 HTTP requests failed; version 1 answered 3; version 2 answered 4; the first: refused"}},
	} {
		if got := unanswered([]string{"1", "2"}, c.outcome); got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}
