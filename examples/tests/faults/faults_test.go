// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"testing"
	"time"
)

// TestFaults strikes a cluster whose workloads users change all the time. Whatever happens, no invariant is broken, and after
// every round of faults everything settles. With -short each kind of fault strikes once, and the choice is the same in every run.
func TestFaults(t *testing.T) {
	chosen, rounds := *seed, 4
	if testing.Short() {
		chosen, rounds = cmp.Or(chosen, 1), 1
	}
	if chosen == 0 {
		chosen = uint64(time.Now().UnixNano())
	}
	t.Logf("to choose the same faults and changes again: -seed=%d", chosen)
	s := newStory(t, chosen)
	s.startManagers()
	s.answerHooks()
	s.settle()
	faults := s.deck()
	struck := 0
	for i, f := range faults {
		if s.strike(i, f) {
			struck++
		}
		if (i+1)*rounds%len(faults) < rounds { // the end of a round
			s.settle()
			s.lostFew(i + 1)
			s.Logf("after %.0f s: %d faults, %d of them while something was in progress", time.Since(s.begin).Seconds(), i+1, struck)
		}
	}
	s.Logf("%s; %s; %s; %d copies; %d times other results of probes; %s", s.record.Summary(), s.taskPods(),
		s.debugged(), len(s.configs.All())+len(s.secrets.All()), s.results.Load(), &s.disruptions)
	if s.disruptions.done.Load() == 0 || s.disruptions.denied.Load() == 0 {
		s.Errorf("expected evictions and deletions that a budget allows and denies, observed: %s", &s.disruptions)
	}
	if struck < len(faults)*2/3 {
		s.Errorf("expected two thirds of the faults while something was in progress, observed %d of %d", struck, len(faults))
	}
}
