// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// known is what may be missing, such as that which needs a CRD, once it is known whether it is. newKnown makes one.
type known[T any] struct {
	what    string
	once    sync.Once
	decided chan struct{}
	value   atomic.Pointer[T]
}

// newKnown returns one of which nothing is known. what is missing perhaps, for errors.
func newKnown[T any](what string) *known[T] {
	return &known[T]{what: what, decided: make(chan struct{})}
}

// missing says that it is missing, until it is set.
func (k *known[T]) missing() { k.once.Do(func() { close(k.decided) }) }

func (k *known[T]) set(value T) {
	k.value.Store(&value)
	k.missing()
}

// get returns nil where it is missing. It waits until that is known.
func (k *known[T]) get(ctx context.Context) (*T, error) {
	select {
	case <-k.decided:
		return k.value.Load(), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("it is not known yet whether the API server serves %s; try again", k.what)
	}
}
