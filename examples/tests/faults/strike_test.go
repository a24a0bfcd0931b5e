// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/podwright/podwright/examples/tests/testbed"
)

// strike has users change something and a fault happen at some moment of what follows. It returns whether something was in
// progress then. All that is by chance comes of the seed of the run and the number of the fault, however the time went before.
func (s *story) strike(number int, f fault) bool {
	s.Helper()
	s.random = rand.New(rand.NewPCG(s.seed, uint64(number)))
	before, changes, during := 1+s.random.IntN(2), s.random.IntN(25), s.random.IntN(3)
	length := f.length/10 + time.Duration(s.random.Int64N(int64(f.length)+1))*9/10

	s.managers.leader()
	for range before {
		s.stir()
	}
	s.awaitChanges(changes)
	for tries := 0; len(s.inProgress()) == 0 && tries < 10; tries++ {
		s.stir()
	}
	busy := s.inProgress()
	s.note("%s, for %v; in progress: %s", f.name, length.Round(time.Millisecond), strings.Join(busy, ", "))
	stop := s.disrupt()
	begin := time.Now()
	heal := f.strike(s.managers)
	for range during {
		if f.reachable {
			s.stir()
		}
	}
	time.Sleep(length - time.Since(begin)) // the length of the fault
	heal()
	stop()
	s.note("%s no more, after %v", f.name, time.Since(begin).Round(time.Millisecond))
	return len(busy) > 0
}

// awaitChanges waits until so many objects have changed, or nothing does for a while.
func (s *story) awaitChanges(wanted int) {
	ctx, cancel := s.within(2 * time.Second)
	defer cancel()
	seen := s.record.Seen()
	_ = testbed.Repeat(ctx, "changes", func() error {
		if n := s.record.Seen() - seen; n < wanted && len(s.inProgress()) > 0 {
			return fmt.Errorf("%d of %d", n, wanted)
		}
		return nil
	})
}
