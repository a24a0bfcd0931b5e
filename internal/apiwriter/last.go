// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Last remembers the last value of each object between reconciles: what helps
// the next one, and does no harm if it is lost. Its zero value is ready for
// use, by several goroutines.
type Last[T any] struct{ byKey sync.Map }

// Set remembers a value.
func (l *Last[T]) Set(key types.NamespacedName, value T) { l.byKey.Store(key, value) }

// Get returns the value, the zero value if nothing is remembered.
func (l *Last[T]) Get(key types.NamespacedName) T {
	value, _ := l.byKey.Load(key)
	t, _ := value.(T)
	return t
}

// Forget drops the value of an object that no longer exists.
func (l *Last[T]) Forget(key types.NamespacedName) { l.byKey.Delete(key) }
