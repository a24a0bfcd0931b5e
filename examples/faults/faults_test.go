package faults

import (
	"fmt"
	"testing"
	"time"
)

func TestFaults(t *testing.T) {
	chosen := *seed
	if chosen == 0 {
		chosen = uint64(time.Now().UnixNano())
	}
	t.Logf("to choose the same faults and changes again: -seed=%d", chosen)
	s := newStory(t, chosen)
	s.startManagers()
	s.answerHooks()
	s.settle()
	faults := s.deck()
	const rounds = 4
	struck := 0
	for round := range rounds {
		s.note("round %d", round+1)
		for _, f := range faults[len(faults)*round/rounds : len(faults)*(round+1)/rounds] {
			if s.strike(f) {
				struck++
			}
		}
		s.settle()
		s.Logf("after %.0f s: %d faults while something was in progress", time.Since(s.begin).Seconds(), struck)
	}
	s.Logf("%d faults, %d while something was in progress, %d changes judged, %d gaps", len(faults), struck, s.record.seen(), s.record.gaps)
	if struck < 50 {
		s.Errorf("expected at least 50 faults while something was in progress, observed %d of %d", struck, len(faults))
	}
	fmt.Println()
}
