// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// What tests play.
const (
	// Seeds is how many histories, unless the flags say another number: a sample. "make test-long" plays more.
	Seeds = 10
	// seedsOfBugs is how many at most to find a bug.
	seedsOfBugs = 100
	// Steps is how many steps each.
	Steps = 250
)

// The flags of tests that call Check: "go test ./workloads/cloneset -run
// TestSimulation -args -seed=7" plays one seed, and shows its history.
var (
	oneSeed  = flag.Uint64("seed", 0, "play this seed alone; with -soak or -seeds, begin with it")
	seeds    = flag.Uint64("seeds", Seeds, "play so many seeds")
	whole    = flag.Bool("whole", false, "show histories that fail whole, which takes no time, and not by the end of a short prefix")
	soakTime = flag.Duration("soak", 0, "play seeds on all cores for this long")
)

// Check plays the histories of the usual seeds, or of those that the flags ask
// for. A seed that fails is shown by a short prefix that does. If there are several
// workloads, the seeds go through them.
func Check(t *testing.T, all ...*Subject) {
	t.Helper()
	collectLess(t)
	of := func(seed uint64) *Subject { return all[seed%uint64(len(all))] }
	switch {
	case *soakTime > 0:
		soak(t, of)
	case *oneSeed > 0 && !given("seeds"):
		w := of(*oneSeed)
		o := run(t, w, *oneSeed, Steps)
		t.Log(o)
		if len(o.Violations) > 0 {
			t.Error(shorten(t, w, o))
		}
	default:
		for i := range *seeds {
			seed := *oneSeed + i
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				check(t, of(seed), run(t, of(seed), seed, Steps))
			})
		}
	}
}

func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

func check(t *testing.T, w *Subject, o *outcome) {
	t.Helper()
	switch {
	case len(o.Violations) == 0:
	case *whole:
		t.Error(o)
	default:
		t.Error(shorten(t, w, o).End())
	}
}

// mostFailures is how many seeds may fail before a soak ends.
const mostFailures = 3

// soak plays seeds for as long as the flags say, and tells how many they were.
func soak(t *testing.T, of func(seed uint64) *Subject) {
	t.Helper()
	start, first := time.Now(), *oneSeed
	if first == 0 {
		first = uint64(start.Unix()) << 20
	}
	var played, failed atomic.Uint64
	t.Run("soak", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for time.Since(start) < *soakTime && failed.Load() < mostFailures {
					seed := first + played.Add(1) - 1
					w := of(seed)
					o := run(t, w, seed, Steps)
					if len(o.Violations) > 0 {
						failed.Add(1)
						check(t, w, o)
					}
				}
			})
		}
	})
	t.Logf("%d seeds from %d on, %.0f per second, %d failed", played.Load(), first,
		float64(played.Load())/time.Since(start).Seconds(), failed.Load())
}

// collectLess has the garbage of histories, which is much and short-lived,
// collected less often until the test ends.
func collectLess(t *testing.T) {
	before := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

// CheckReplay plays a seed twice, and a part of it, and fails if the histories differ.
func CheckReplay(t *testing.T, w *Subject, seed uint64) {
	t.Helper()
	once, again := run(t, w, seed, Steps), run(t, w, seed, Steps)
	if diff := cmp.Diff(once, again); diff != "" {
		t.Errorf("seed %d, played twice (-once +again):\n%s", seed, diff)
	}
	half := run(t, w, seed, Steps/2)
	end := slices.IndexFunc(half.Trace, func(line string) bool { return strings.HasPrefix(line, afterwards) })
	if end < 0 { // it has failed before
		end = len(half.Trace)
	}
	if diff := cmp.Diff(once.Trace[:min(end, len(once.Trace))], half.Trace[:end]); diff != "" {
		t.Errorf("seed %d, the first %d steps (-of all +alone):\n%s", seed, half.Steps, diff)
	}
}

// shorten returns the outcome of a short prefix of a history that fails, given one
// that does. What follows the last step may fail after a prefix and not after a
// longer one. So it looks at every tenth, and at those before the first of them.
func shorten(t *testing.T, w *Subject, failed *outcome) *outcome {
	t.Helper()
	const stride = 10
	for steps := 0; steps < failed.Steps+stride; steps += stride {
		if o := run(t, w, failed.Seed, min(steps, failed.Steps)); len(o.Violations) == 0 {
			continue
		}
		for fewer := max(steps-stride+1, 0); fewer < steps; fewer++ {
			if o := run(t, w, failed.Seed, min(fewer, failed.Steps)); len(o.Violations) > 0 {
				return o
			}
		}
		return run(t, w, failed.Seed, min(steps, failed.Steps))
	}
	return failed
}

// String tells the whole history, and what did not hold.
func (o *outcome) String() string { return o.tell(len(o.Trace), len(o.Violations)) }

// End tells the last events of the history, and what did not hold: fewer than 200 lines.
func (o *outcome) End() string { return o.tell(160, 30) }

func (o *outcome) tell(events, violations int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "seed %d, %d steps:\n", o.Seed, o.Steps)
	if before := len(o.Trace) - events; before > 0 {
		fmt.Fprintf(&out, "(%d events before these: -args -seed=%d)\n", before, o.Seed)
	}
	for _, line := range o.Trace[max(0, len(o.Trace)-events):] {
		fmt.Fprintln(&out, line)
	}
	for _, v := range o.Violations[:min(violations, len(o.Violations))] {
		fmt.Fprintln(&out, v)
	}
	if more := len(o.Violations) - violations; more > 0 {
		fmt.Fprintf(&out, "and %d more\n", more)
	}
	return out.String()
}

// Regression is a history in which a bug was found that is mended now.
type Regression struct {
	// Found says what was wrong.
	Found    string
	Seed     uint64
	Workload *Subject
}

// Replay plays histories in which bugs were found.
func Replay(t *testing.T, regressions []Regression) {
	t.Helper()
	for _, r := range regressions {
		t.Run(r.Found, func(t *testing.T) {
			t.Parallel()
			check(t, r.Workload, run(t, r.Workload, r.Seed, Steps))
		})
	}
}

// Reach plays so many steps of the history of a seed, and ends all of its processes, whose requests then come to nothing. It
// shows the API server to a function in the state that it has come to, free of disturbances, at the time of the history. The
// function ends what it starts.
func Reach(t *testing.T, w *Subject, seed uint64, steps int, show func(t *testing.T, server *fakecluster.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, w, &outcome{Seed: seed, Steps: steps})
		defer h.stop()
		h.takeSteps(steps)
		h.stop()
		if h.outcome.Trace = h.trace; h.failed() {
			t.Fatal(h.outcome)
		}
		synctest.Wait()
		h.server.FailBefore(nil)
		h.server.FailAfter(nil)
		show(t, h.server)
	})
}

func newHistory(t testing.TB, w *Subject, outcome *outcome) *history {
	return &history{t: t, workload: w, seed: outcome.Seed, outcome: outcome, records: map[string]*record{},
		kinds: w.kinds(outcome.Seed), judged: map[string]int{}, sick: map[types.UID]ailment{}, idle: map[types.UID]idle{}, dead: map[string]bool{}, mounters: map[types.UID]types.UID{}, drains: map[types.UID]*drain{}, insisted: map[types.UID]time.Time{}}
}
