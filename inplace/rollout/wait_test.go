// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/podwright/podwright/inplace/rollout"
)

// Problems are errors, with the condition that reports each, if there is one.
func TestProblems(t *testing.T) {
	one, other := errors.New("one"), errors.New("other")
	if got := rollout.ProblemsOf(nil, one, nil); len(got) != 1 || got[0].Err != one || got[0].Condition != "" {
		t.Errorf("got %v", got)
	}
	if rollout.ProblemsOf(nil) != nil || rollout.ErrorOf(nil) != nil {
		t.Error("nothing is a problem")
	}
	if got := rollout.ErrorOf(rollout.ProblemsOf(one)); got != one {
		t.Errorf("a single problem is %v", got)
	}
	if got := rollout.ErrorOf(rollout.ProblemsOf(one, other)); !errors.Is(got, one) || !errors.Is(got, other) {
		t.Errorf("two problems are %v", got)
	}
	got := fmt.Sprint(rollout.Problem{Err: one}, "; ", rollout.Problem{Condition: "FailedScale", Err: one}, "; ", rollout.Problem{Condition: "FailedScale"}, "; ", rollout.Problem{})
	if want := "problem: one; problem FailedScale: one; problem FailedScale; problem"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
