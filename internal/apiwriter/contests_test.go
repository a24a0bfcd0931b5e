// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// TestContests counts what an owner writes to an object in two hours. In some cases another writer takes each write back at
// once, in the others nothing is taken back. (CT-12)
func TestContests(t *testing.T) {
	owner, start := types.NamespacedName{Name: "web"}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name         string
		wanted       func(n int) string
		first, later int // writes in the first hour, and in the second
	}{
		{"CT-12: what is taken back is put back with pauses", func(int) string { return "a" }, 22, 12},
		{"CT-12: a controller that changes its mind contests nothing", func(n int) string { return fmt.Sprint(n % 2) }, 3600, 3600},
		{"CT-12: a pod that comes and goes contests nothing", func(n int) string {
			return fmt.Sprintf(`{"ready":%d}{"ready":%d}`, 2+n%2, 3-n%2)
		}, 3600, 3600},
		{"CT-12: a condition that comes and goes, with a time, contests nothing", func(n int) string {
			return []string{`{}{"conditions":{"Late":{"at":"","of":"x"}}}`, `{"conditions":{"Late":{"at":null,"of":null}}}{}`}[n%2]
		}, 3600, 3600},
		{"CT-12: a condition that is taken away each time", func(int) string { return `{}{"conditions":{"Late":{"at":"","of":"x"}}}` }, 22, 12},
		{"CT-12: a condition that is put back each time", func(int) string { return `{"conditions":{"Late":{"at":null,"of":null}}}{}` }, 22, 12},
		{"CT-12: a time that is taken away each time", func(int) string { return `{"at":""}` }, 22, 12},
		{"CT-12: two that take turns, and are about different fields", func(n int) string {
			return []string{`{"metadata":{"uid":"1"},"image":{"log-1":"log"}}`, `{"metadata":{"uid":"1"},"image":{"log-2":"empty"}}`}[n%2]
		}, 22, 12},
		{"CT-12: two that take turns, of which one leaves something of the other", func(n int) string {
			return []string{`{"image":"2","message":"updates"}`, `{"image":"2","message":"empties"}`}[n%2]
		}, 22, 12},
		{"CT-12: a cycle of four", func(n int) string { return fmt.Sprintf(`{"a":%d,"b-%d":0}`, n%2, n%4) }, 22, 12},
		{"CT-12: an update, and a write after it that goes back on a part of it", func(n int) string {
			return []string{`{"image":"2","ready":"False"}`, `{"ready":"True"}`}[n%2] // the other one does not wait
		}, 44, 24},
		{"CT-12: something else each time", func(n int) string { return fmt.Sprintf(`{"image":%d,"name":"main"}`, n) }, 3600, 3600},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c Contests
			hours, n := [2]int{}, 0
			for second := range 7200 {
				now, wanted := start.Add(time.Duration(second)*time.Second), test.wanted(n)
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

func TestFieldsOf(t *testing.T) {
	const pod = `{"metadata":{"uid":"1","labels":{"a":"b"}},"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Gate","status":"True"}]}}`
	for _, test := range []struct {
		name, a, b string
		shares     bool
	}{
		{"CT-12: the UID of an object is no field", pod, `{"metadata":{"uid":"1"}}`, false},
		{"CT-12: one of several conditions", pod, `{"status":{"conditions":[{"type":"Gate","status":"True"}]}}`, true},
		{"CT-12: that kubelets decide of Ready is no contest", pod, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, false},
		{"CT-12: a time that is not compared", `{"a":{"at":"","of":"x"}}`, `{"a":{"at":""}}`, false},
		{"CT-12: the same time, and another value", `{"a":{"at":"","of":"x"}}`, `{"a":{"at":"","of":"y"}}`, false},
		{"CT-12: another status of it", pod, `{"status":{"conditions":[{"type":"Gate","status":"False"}]}}`, false},
		{"CT-12: lists without names count as a whole", `{"finalizers":["a","b"]}`, `{"finalizers":["a"]}`, false},
		{"CT-12: the same value from another one", `{"ready":1}{"ready":3}`, `{"ready":2}{"ready":3}`, false},
		{"CT-12: the same value from the same one", `{"ready":1,"of":3}{"ready":3,"of":4}`, `{"ready":1}{"ready":3}`, true},
		{"CT-12: what names no field is one", "", "", true},
		{"CT-12: what is no JSON is one", "a", "b", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := fieldsOf(test.a).shares(fieldsOf(test.b)); got != test.shares {
				t.Errorf("%v, want %v", got, test.shares)
			}
		})
	}
}
