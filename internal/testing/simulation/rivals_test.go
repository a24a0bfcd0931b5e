// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"testing"
	"time"
)

// CT-12: a process that waits is excused if others undo what it writes. It is excused for as long as the rule has it wait, and
// no longer.
func TestRivalry(t *testing.T) {
	one, other := &kind{}, &kind{}
	a, b, stranger := &Process{kind: one}, &Process{kind: one}, &Process{kind: other}
	h := &history{}
	write := func(by *Process, key string) { h.noteWriter(by, pods, key) }
	in := func(d time.Duration) bool { return a.rivalry.explains(a.rivalry.last.Add(d)) }
	write(a, "web")
	write(a, "web")
	write(stranger, "web")
	write(a, "other")
	write(b, "web")
	if a.rivalry.times != 0 {
		t.Errorf("%d changes of what a process wrote itself, or another controller", a.rivalry.times)
	}
	write(b, "other")
	if a.rivalry.times != 1 || in(0) {
		t.Errorf("after %d change of another process it is to write at once", a.rivalry.times)
	}
	write(a, "web")
	write(b, "web")
	if b.rivalry.times != 1 || !in(firstRivalry) || in(firstRivalry+late+1) || a.rivalry.explains(time.Time{}) {
		t.Errorf("%d changes, a wait of a second is explained: %v; of more: %v; for ever: %v", a.rivalry.times, in(firstRivalry), in(firstRivalry+late+1), a.rivalry.explains(time.Time{}))
	}
	write(a, "web")
	write(b, "web")
	if !in(2*firstRivalry) || in(2*firstRivalry+late+1) {
		t.Errorf("%d changes, a wait of two seconds is explained: %v; of more: %v", a.rivalry.times, in(2*firstRivalry), in(2*firstRivalry+late+1))
	}
	for range 60 {
		write(a, "web")
		write(b, "web")
	}
	if !in(lastRivalry) || in(lastRivalry+late+1) {
		t.Errorf("%d changes, a wait of five minutes is explained: %v; of more: %v", a.rivalry.times, in(lastRivalry), in(lastRivalry+late+1))
	}
	a.rivalry.add(a.rivalry.last.Add(overRivalry))
	if a.rivalry.times != 1 {
		t.Errorf("%d changes, and the others are long ago", a.rivalry.times)
	}
}
