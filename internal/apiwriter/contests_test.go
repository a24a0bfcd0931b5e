// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// TestContests shows in testdata/contests.txt how many writes come of what is wanted, and which writes share a field. (CT-12)
func TestContests(t *testing.T) {
	datadriven.RunTest(t, "testdata/contests.txt", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(strings.ReplaceAll(d.Input, `""`+"\n"+`""`, "\n"), "\n")
		if d.Cmd == "shares" {
			return fmt.Sprintln(fieldsOf(lines[0]).shares(fieldsOf(lines[1])))
		}
		hours := writesIn(t, func(n int) string { return strings.ReplaceAll(lines[n%len(lines)], "$n", fmt.Sprint(n)) })
		return fmt.Sprintf("%d in the first hour, %d in the second\n", hours[0], hours[1])
	})
}

// writesIn counts the writes of two hours.
func writesIn(t *testing.T, wanted func(n int) string) (hours [2]int) {
	t.Helper()
	owner, start := types.NamespacedName{Name: "web"}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var c Contests
	for second, n := 0, 0; second < 7200; second++ {
		now, wanted := start.Add(time.Duration(second)*time.Second), wanted(n)
		if c.waits(owner, "thing", wanted, now) {
			if in := c.next(owner, now); in <= 0 || in > lastContest {
				t.Fatalf("to be tried again in %s", in)
			}
			continue
		}
		if in := c.next(owner, now); in != 0 {
			t.Fatalf("nothing waits, and it is to be tried again in %s", in)
		}
		c.Wrote(owner, "thing", wanted, now)
		hours[second/3600]++
		n++
	}
	return hours
}

// TestContestsEnd: after ten minutes without a put back, or once something else is wanted, writes wait no more. (CT-12)
func TestContestsEnd(t *testing.T) {
	owner, now := types.NamespacedName{Name: "web"}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var c Contests
	for range 30 {
		c.Wrote(owner, "thing", "a", now)
	}
	if !c.waits(owner, "thing", "a", now.Add(lastContest-time.Second)) {
		t.Error("it does not wait")
	}
	if c.waits(owner, "thing", "b", now) || c.waits(owner, "other", "a", now) || c.waits(types.NamespacedName{Name: "db"}, "thing", "a", now) {
		t.Error("other writes wait")
	}
	if times := c.Wrote(owner, "thing", "a", now.Add(overContest)); times != 0 {
		t.Errorf("it was put back %d times, though the contest was over", times)
	}
	c.Wrote(owner, "thing", "a", now.Add(overContest))
	if c.next(owner, now.Add(3*overContest)); c.known[owner] != nil {
		t.Error("it remembers what is over")
	}
	for range 4 {
		c.Wrote(owner, "thing", "a", now)
	}
	if c.Deleted(owner, "thing"); c.waits(owner, "thing", "a", now) {
		t.Error("what its owner has deleted, and wants again, waits")
	}
	c.Wrote(owner, "thing", "a", now)
	if c.Forget(owner); len(c.known) > 0 {
		t.Error("it remembers what is gone")
	}
}

func TestOnlyContested(t *testing.T) {
	contested := fmt.Errorf("write the status: %w", newContested("status"))
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("refused"), false},
		{contested, true},
		{errors.Join(contested, newContested("pod web-1")), true},
		{errors.Join(contested, errors.New("refused")), false},
	} {
		if OnlyContested(test.err) != test.want || test.want && len(test.err.Error()) > 0 && !apierrors.IsConflict(contested) {
			t.Errorf("%v: want %t", test.err, test.want)
		}
	}
}

// TestContestsAndUsers: who goes back to a revision and forth again waits for nothing, however often. (CT-12)
func TestContestsAndUsers(t *testing.T) {
	owner, now := types.NamespacedName{Name: "web"}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var c Contests
	for i := range 20 {
		update := fmt.Sprintf(`{"metadata":{"uid":"1","labels":{"revision":"v%d"}},"spec":{"containers":[{"name":"main","image":"web:%[1]d"}]}}`, 1+i%2)
		for _, write := range []string{`{"status":{"conditions":[{"type":"Gate","status":"False"}]}}`, update, `{"status":{"conditions":[{"type":"Gate","status":"True"}]}}`} {
			if c.waits(owner, "pod web-1", write, now) {
				t.Fatalf("update %d waits", i)
			}
			if times := c.Wrote(owner, "pod web-1", write, now); times > 0 {
				t.Errorf("update %d counts as %d times put back", i, times)
			}
			now = now.Add(time.Second)
		}
	}
	for range 3 { // the other writer is at work now
		c.Wrote(owner, "pod web-1", `{"metadata":{"labels":{"revision":"v2"}}}`, now)
	}
	if !c.waits(owner, "pod web-1", `{"metadata":{"labels":{"revision":"v2"}}}`, now) || c.waits(owner, "pod web-1", `{"metadata":{"labels":{"revision":"v3"}}}`, now) {
		t.Error("what is taken back does not wait, or a new revision does")
	}
}

// TestContestsAreBounded: about one object so many writes and fields are remembered, whatever is written. (CT-14)
func TestContestsAreBounded(t *testing.T) {
	owner, now := types.NamespacedName{Name: "web"}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var c Contests
	for i := range 1000 {
		c.Wrote(owner, "thing", fmt.Sprintf(`{"label-%d":"x"}`, i), now)
	}
	many := map[string]int{}
	for i := range 2 * mostFields {
		many[fmt.Sprint(i)] = i
	}
	text, err := json.Marshal(many)
	if err != nil || len(fieldsOf(string(text))) != 1 {
		t.Errorf("a write of %d fields is remembered as %d, %v", len(many), len(fieldsOf(string(text))), err)
	}
	if n := len(c.known[owner].of["thing"].last); n > mostFields {
		t.Errorf("%d fields are remembered", n)
	}
}
