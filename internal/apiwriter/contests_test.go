// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// TestContests counts what an owner writes in two hours to an object of which another writer takes each write back at once,
// and what it writes where nothing is taken back. (CT-12)
func TestContests(t *testing.T) {
	owner, start := types.NamespacedName{Name: "web"}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name         string
		wanted       func(n int) string
		first, later int // writes in the first hour, and in the second
	}{
		{"CT-12: what is taken back is put back with pauses", func(int) string { return "a" }, 22, 12},
		{"CT-12: a controller that changes its mind contests nothing", func(n int) string { return fmt.Sprint(n % 2) }, 3600, 3600},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c Contests
			hours, n := [2]int{}, 0
			for second := range 7200 {
				now, wanted := start.Add(time.Duration(second)*time.Second), test.wanted(n)
				if c.Waits(owner, "thing", wanted, now) {
					if in := c.Next(owner, now); in <= 0 || in > lastContest {
						t.Fatalf("to be tried again in %s", in)
					}
					continue
				}
				if in := c.Next(owner, now); in != 0 {
					t.Fatalf("nothing waits, and it is to be tried again in %s", in)
				}
				c.Wrote(owner, "thing", wanted, now)
				hours[second/3600]++
				n++
			}
			if hours[0] > test.first+3 || hours[0] < test.first-3 && test.first < 100 || hours[1] > test.later || hours[1] < test.later-1 {
				t.Errorf("%d writes in the first hour, want about %d; %d in the second, want %d", hours[0], test.first, hours[1], test.later)
			}
		})
	}
}

// TestContestsEnd: after ten minutes without a put back, or once something else is wanted, writes wait no more. (CT-12)
func TestContestsEnd(t *testing.T) {
	owner, now := types.NamespacedName{Name: "web"}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var c Contests
	for range 30 {
		c.Wrote(owner, "thing", "a", now)
	}
	if !c.Waits(owner, "thing", "a", now.Add(lastContest-time.Second)) {
		t.Error("it does not wait")
	}
	if c.Waits(owner, "thing", "b", now) || c.Waits(owner, "other", "a", now) || c.Waits(types.NamespacedName{Name: "db"}, "thing", "a", now) {
		t.Error("other writes wait")
	}
	if times := c.Wrote(owner, "thing", "a", now.Add(overContest)); times != 0 {
		t.Errorf("it was put back %d times, though the contest was over", times)
	}
	c.Wrote(owner, "thing", "a", now.Add(overContest))
	if c.Next(owner, now.Add(3*overContest)); c.known[owner] != nil {
		t.Error("it remembers what is over")
	}
	c.Wrote(owner, "thing", "a", now)
	if c.Forget(owner); len(c.known) > 0 {
		t.Error("it remembers what is gone")
	}
}

func TestOnlyContested(t *testing.T) {
	contested := fmt.Errorf("write the status: %w", NewContested("status"))
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("refused"), false},
		{contested, true},
		{errors.Join(contested, NewContested("pod web-1")), true},
		{errors.Join(contested, errors.New("refused")), false},
	} {
		if OnlyContested(test.err) != test.want || test.want && len(test.err.Error()) > 0 && !apierrors.IsConflict(contested) {
			t.Errorf("%v: want %t", test.err, test.want)
		}
	}
}
