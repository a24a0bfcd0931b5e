// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// keyedLocks are locks by the name of a budget. The zero value is ready for use.
type keyedLocks struct {
	mutex sync.Mutex
	held  map[types.NamespacedName]*keyedLock
}

// keyedLock is held by the caller that has put something into the channel.
type keyedLock struct {
	full  chan struct{}
	users int // who hold it or wait for it
}

// lock waits until no other caller holds the lock, or the context is done, which is an error.
func (l *keyedLocks) lock(ctx context.Context, key types.NamespacedName) (unlock func(), err error) {
	l.mutex.Lock()
	one := l.held[key]
	if one == nil {
		if l.held == nil {
			l.held = map[types.NamespacedName]*keyedLock{}
		}
		one = &keyedLock{full: make(chan struct{}, 1)}
		l.held[key] = one
	}
	one.users++
	l.mutex.Unlock()
	leave := func() {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		if one.users--; one.users == 0 {
			delete(l.held, key)
		}
	}
	select {
	case one.full <- struct{}{}:
		return func() { <-one.full; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
