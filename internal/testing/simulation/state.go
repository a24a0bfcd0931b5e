// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// Reach plays so many steps of the history of a seed, and ends all of its processes, whose requests then come to nothing. It
// shows the API server to a function in the state that it has come to, free of disturbances, at the time of the history. The
// function ends what it starts.
func Reach(t *testing.T, w *Subject, seed uint64, steps int, show func(t *testing.T, server *fakecluster.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(w, &outcome{Seed: seed, Steps: steps})
		err := h.takeSteps(steps)
		h.stop()
		switch h.outcome.Trace = h.trace; {
		case err != nil:
			t.Fatalf("seed %d: %v", seed, err)
		case h.failed():
			t.Fatal(h.outcome)
		}
		synctest.Wait()
		h.server.FailBefore(nil)
		h.server.FailAfter(nil)
		show(t, h.server)
	})
}

func newHistory(w *Subject, outcome *outcome) *history {
	return &history{workload: w, seed: outcome.Seed, outcome: outcome, records: map[string]*record{},
		kinds: w.kinds(outcome.Seed), judged: map[string]int{}, sick: map[types.UID]ailment{}, idle: map[types.UID]idle{}, dead: map[string]bool{}, mounters: map[types.UID]types.UID{}, drains: map[types.UID]*drain{}, insisted: map[types.UID]time.Time{}}
}
