// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
)

// A test is idle if others kill all that it kills. Of two that kill the same, the longer one is idle.
func TestIdleOf(t *testing.T) {
	kills := func(mutants ...int) map[int]bool {
		all := map[int]bool{}
		for _, n := range mutants {
			all[n] = true
		}
		return all
	}
	got := idleOf([]*caseOf{
		{name: "TestShort", place: "a_test.go:1", lines: 5, kills: kills(1, 2)},
		{name: "TestLong", place: "a_test.go:9", lines: 50, kills: kills(1, 2)},
		{name: "TestAlone", place: "b_test.go:1", lines: 70, kills: kills(2, 3)},
		{name: "TestNothing", place: "b_test.go:90", lines: 7},
	})
	want := "idle    50 lines, kills    2  a_test.go:9 TestLong\n" +
		"idle     7 lines, kills    0  b_test.go:90 TestNothing\n" +
		"2 of 4 tests are idle, with 57 lines; 3 mutants are killed\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestFailedIn(t *testing.T) {
	for out, want := range map[string][]string{
		"PASS\n": nil,
		"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/of_it (0.00s)\n    a_test.go:1: no\n--- FAIL: TestKnown (0.00s)\n--- FAIL: TestB (0.00s)\n": {"TestA", "TestB"},
		"panic: test timed out after 1s\n\trunning tests:\n\t\tTestSlow/of_it (1s)\n":                                                             {"TestSlow"},
	} {
		if got := failedIn(out, []string{"TestKnown"}); !slices.Equal(got, want) {
			t.Errorf("of %q: got %q, want %q", out, got, want)
		}
	}
}
