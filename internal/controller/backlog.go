// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// A backlog orders the keys of a loop. What was there when the controller started waits behind what has happened since.
// After a restart nearly all objects are settled. The one that a user changes does not wait for thousands of them. Every
// fourth key is of those all the same, so that a busy cluster does not hold them up. (CT-17)
//
// It is a workqueue.Queue. The workqueue holds its own lock meanwhile; begins and happened are called without it.
type backlog struct {
	lock    sync.Mutex
	initial map[types.NamespacedName]bool // enqueued for nothing but being there at the start

	front, back []types.NamespacedName
	waits       map[types.NamespacedName]bool // in back. What back has beside these went to the front.
	pops        int
}

// oneOf is how many keys are taken for one from the back, as long as there are others.
const oneOf = 4

func newBacklog() *backlog {
	return &backlog{initial: map[types.NamespacedName]bool{}, waits: map[types.NamespacedName]bool{}}
}

// begins notes that a key is enqueued because its object was there at the start.
func (b *backlog) begins(key types.NamespacedName) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.initial[key] = true
}

// happened notes that a key is enqueued because something has happened to its object.
func (b *backlog) happened(key types.NamespacedName) {
	b.lock.Lock()
	defer b.lock.Unlock()
	delete(b.initial, key)
}

// isInitial tells what was noted of a key last.
func (b *backlog) isInitial(key types.NamespacedName) bool {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.initial[key]
}

// Push adds a key that does not wait yet.
func (b *backlog) Push(key types.NamespacedName) {
	if !b.isInitial(key) {
		b.front = append(b.front, key)
		return
	}
	b.back = append(b.back, key)
	b.waits[key] = true
}

// Touch moves a key to the front that waits at the back, if something has happened.
func (b *backlog) Touch(key types.NamespacedName) {
	if b.waits[key] && !b.isInitial(key) {
		delete(b.waits, key)
		b.front = append(b.front, key)
	}
}

// Len is the number of keys that wait.
func (b *backlog) Len() int { return len(b.front) + len(b.waits) }

// Pop takes the next key. There must be one.
func (b *backlog) Pop() types.NamespacedName {
	b.pops++
	key := b.next(len(b.front) == 0 || len(b.waits) > 0 && b.pops%oneOf == 0)
	b.happened(key) // if it is enqueued again, that is for more than that it was there
	return key
}

func (b *backlog) next(initial bool) (key types.NamespacedName) {
	if !initial {
		key, b.front = b.front[0], b.front[1:]
		return key
	}
	for !b.waits[key] { // the others went to the front
		key, b.back = b.back[0], b.back[1:]
	}
	delete(b.waits, key)
	return key
}
