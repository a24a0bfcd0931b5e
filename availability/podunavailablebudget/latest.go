// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// latestKept is how long the state of a budget is remembered at least. A cache is seldom behind for as
// long; if it is, booking on what it has ends with a conflict, and the budget is read.
const latestKept = time.Minute

// latest remembers something of objects for a while. That is states of budgets that are newer than those of a cache, or what
// was told of pods. An object that was deleted is never asked about again. The zero value is ready for use, by several
// goroutines.
type latest[T any] struct {
	lock  sync.Mutex
	byKey map[types.NamespacedName]state[T]
	swept time.Time
}

// state is what is remembered, and since when.
type state[T any] struct {
	value T
	at    time.Time
}

// set remembers a value, and drops those that were remembered for long enough.
func (l *latest[T]) set(key types.NamespacedName, value T, now time.Time) {
	l.setUnless(key, value, now, func(T, time.Time) bool { return false })
}

// setUnless is set, unless stays is true of what is remembered and since when. It tells whether it was set.
func (l *latest[T]) setUnless(key types.NamespacedName, value T, now time.Time, stays func(T, time.Time) bool) bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	if before, found := l.byKey[key]; found && stays(before.value, before.at) {
		return false
	}
	if l.byKey == nil {
		l.byKey = map[types.NamespacedName]state[T]{}
	}
	l.byKey[key] = state[T]{value, now}
	if now.Sub(l.swept) < latestKept {
		return true
	}
	l.swept = now
	for key, s := range l.byKey {
		if now.Sub(s.at) > latestKept {
			delete(l.byKey, key)
		}
	}
	return true
}

// get returns the value that is remembered, the zero value for none.
func (l *latest[T]) get(key types.NamespacedName) T {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.byKey[key].value
}

func (l *latest[T]) forget(key types.NamespacedName) {
	l.lock.Lock()
	defer l.lock.Unlock()
	delete(l.byKey, key)
}
