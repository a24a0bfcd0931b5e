package simulation

import (
	"fmt"
	"strings"
	"testing"
)

// Steps is how many steps a history has by default.
const Steps = 250

// Check plays the histories of n seeds, from one on, and fails with the
// shortest prefix of each seed that fails.
func Check(t *testing.T, w *Workload, from, n uint64) {
	t.Helper()
	for seed := from; seed < from+n; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			if o := Run(t, w, seed, Steps); len(o.Violations) > 0 {
				t.Error(Shortest(t, w, o))
			}
		})
	}
}

// Shortest returns the outcome of the shortest prefix of a history that fails,
// given one that does.
func Shortest(t *testing.T, w *Workload, failed *Outcome) *Outcome {
	t.Helper()
	for steps := range failed.Steps {
		if o := Run(t, w, failed.Seed, steps); len(o.Violations) > 0 {
			return o
		}
	}
	return failed
}

// String tells the history, and what did not hold.
func (o *Outcome) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "seed %d, %d steps:\n", o.Seed, o.Steps)
	for _, line := range o.Trace {
		fmt.Fprintln(&out, line)
	}
	for _, v := range o.Violations {
		fmt.Fprintln(&out, v)
	}
	return out.String()
}
