// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachGoesOnAfterFailures(t *testing.T) {
	var calls atomic.Int32
	first, second := errors.New("first"), errors.New("second")
	err := Each(t.Context(), 10, 3, func(i int) error {
		calls.Add(1)
		switch i {
		case 2:
			return first
		case 7:
			return second
		}
		return nil
	})
	if calls.Load() != 10 || !errors.Is(err, first) || !errors.Is(err, second) {
		t.Errorf("%d calls, error %v", calls.Load(), err)
	}
	if err := Each(t.Context(), 0, 3, nil); err != nil {
		t.Error(err)
	}
}

func TestEachKeepsItsLimit(t *testing.T) {
	var running, most atomic.Int32
	var all sync.WaitGroup
	all.Add(3) // calls meet in threes, which they can only if three run at once
	err := Each(t.Context(), 3, 3, func(int) error {
		n := running.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		all.Done()
		all.Wait()
		running.Add(-1)
		return nil
	})
	if err != nil || most.Load() != 3 {
		t.Errorf("%d at once, error %v", most.Load(), err)
	}
	most.Store(0)
	if err := Each(t.Context(), 50, 1, func(int) error {
		if running.Add(1) > 1 {
			t.Error("two at once, the limit is one")
		}
		running.Add(-1)
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	err := Each(ctx, 10, 1, func(int) error {
		if calls++; calls == 4 {
			cancel(stop)
		}
		return nil
	})
	if calls != 4 || !errors.Is(err, stop) {
		t.Errorf("%d calls, error %v", calls, err)
	}
}

func TestSlowStart(t *testing.T) {
	failed := errors.New("over quota")
	from := func(first int) func(int) bool { return func(i int) bool { return i >= first } }
	only := func(one int) func(int) bool { return func(i int) bool { return i == one } }
	for _, test := range []struct {
		name        string
		n, patience int
		fails       func(i int) bool
		calls, ok   int
	}{
		{"nothing to do", 0, 1, from(0), 0, 0},
		{"all succeed", 10, 1, from(10), 10, 10},
		{"the first call fails: it is the only one", 100, 1, from(0), 1, 0},
		{"a batch of four fails in its middle: 1 + 2 + 4 calls", 100, 1, from(5), 7, 5},
		{"patience 2: the first two calls fail", 100, 2, from(0), 2, 0},
		{"patience 2: a batch of four fails, and one call more: 1 + 2 + 4 + 1 calls", 100, 2, from(5), 8, 5},
		{"patience 2: one call fails", 100, 2, only(5), 100, 99},
		{"patience 2: the first call fails", 10, 2, only(0), 10, 9},
	} {
		t.Run(test.name, func(t *testing.T) {
			var calls atomic.Int32
			ok, err := SlowStart(t.Context(), test.n, 16, test.patience, func(i int) error {
				calls.Add(1)
				if test.fails(i) {
					return failed
				}
				return nil
			})
			if diff := cmp.Diff([]int{test.calls, test.ok}, []int{int(calls.Load()), ok}); diff != "" {
				t.Error(diff)
			}
			if (err != nil) != (ok < test.n) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A call that panics would end the process: no caller can recover it.
func TestEachSurvivesAPanic(t *testing.T) {
	var calls atomic.Int32
	err := Each(t.Context(), 5, 2, func(i int) error {
		calls.Add(1)
		if i == 1 {
			panic("planted")
		}
		return nil
	})
	if calls.Load() != 5 || err == nil || err.Error() != "panic: planted" {
		t.Errorf("%d calls, error %v", calls.Load(), err)
	}
}
