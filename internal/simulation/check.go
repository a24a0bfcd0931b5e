package simulation

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What tests play, unless they have a reason.
const (
	// Seeds is how many histories.
	Seeds = 150
	// Steps is how many steps each.
	Steps = 250
)

// Check plays the histories of n seeds, from one on, and fails with the
// shortest prefix of each seed that fails.
func Check(t *testing.T, w *Workload, from, n uint64) {
	t.Helper()
	collectLess(t)
	for seed := from; seed < from+n; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			if o := Run(t, w, seed, Steps); len(o.Violations) > 0 {
				t.Error(Shortest(t, w, o))
			}
		})
	}
}

// collectLess has the garbage of histories, which is much and short-lived,
// collected less often until the test ends.
func collectLess(t *testing.T) {
	before := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

// CheckReplay plays a seed twice, and a part of it, and fails where the histories differ.
func CheckReplay(t *testing.T, w *Workload, seed uint64) {
	t.Helper()
	once, again := Run(t, w, seed, Steps), Run(t, w, seed, Steps)
	if diff := cmp.Diff(once, again); diff != "" {
		t.Errorf("seed %d, played twice (-once +again):\n%s", seed, diff)
	}
	half := Run(t, w, seed, Steps/2)
	end := slices.IndexFunc(half.Trace, func(line string) bool { return strings.HasPrefix(line, afterwards) })
	if diff := cmp.Diff(once.Trace[:end], half.Trace[:end]); diff != "" {
		t.Errorf("seed %d, the first %d steps (-of all +alone):\n%s", seed, half.Steps, diff)
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
