// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Known is what an answer depends on and may be missing. Such is what reads a kind whose CRD is perhaps not installed, once
// that is known. NewKnown makes one. It may be used by many goroutines.
type Known[T any] struct {
	what    string
	decide  func()
	decided chan struct{}
	value   atomic.Pointer[T]
}

// NewKnown returns a Known of which nothing is known. What says what that is, for errors,
// like "whether Widgets are served".
func NewKnown[T any](what string) *Known[T] {
	decided := make(chan struct{})
	return &Known[T]{what: what, decided: decided, decide: sync.OnceFunc(func() { close(decided) })}
}

// Missing says that it is missing, until it is set.
func (k *Known[T]) Missing() { k.decide() }

// Set says what it is, from now on.
func (k *Known[T]) Set(value T) {
	k.value.Store(&value)
	k.decide()
}

// IsKnown tells whether Missing or Set has been called.
func (k *Known[T]) IsKnown() bool {
	select {
	case <-k.decided:
		return true
	default:
		return false
	}
}

// Now returns what it is by now; false if Set has not been called.
func (k *Known[T]) Now() (value T, there bool) {
	if found := k.value.Load(); found != nil {
		return *found, true
	}
	return value, false
}

// Get returns false if it is missing. It waits until that is known; an error says that the context ended before.
func (k *Known[T]) Get(ctx context.Context) (value T, there bool, err error) {
	select {
	case <-k.decided: // whether the context has ended or not
	default:
		select {
		case <-k.decided:
		case <-ctx.Done():
			return value, false, fmt.Errorf("it is not known yet %s; try again", k.what)
		}
	}
	value, there = k.Now()
	return value, there, nil
}
