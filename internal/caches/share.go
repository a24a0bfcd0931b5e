// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"hash/maphash"
	"reflect"
	"sync/atomic"
	"unsafe"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A sharer has equal parts of objects of one kind be one object in memory. It knows a few objects of each
// group, by weak pointers. So it keeps nothing in memory, and what objects share goes with the last of
// them. The zero value knows none. It may be used by many goroutines, and none waits for another. If two
// write the same place, one of their objects is not known, which costs room and nothing else.
type sharer[T any, P interface {
	*T
	metav1.Object
}] struct {
	within  func(P) // has parts of an object share with each other, nil for none
	layout  atomic.Pointer[layout]
	groups  atomic.Pointer[table[T]]
	used    atomic.Int64 // places of the table
	shared  atomic.Int64 // objects since the table was made
	renewal atomic.Bool
}

// table finds the models of a group in one of the places that follow from its hash. Its length is a power of two, and
// at most half of it is used.
type table[T any] []atomic.Pointer[models[T]]

// models are objects of a group that others share parts with. There are some, so that rarely all go before
// another object of the group comes. Each place is for the first of the objects that a hash of the UID puts
// there, while there is one. They are replaced, never changed.
type models[T any] struct {
	group   group
	objects [4]weak.Pointer[T]
	uids    [4]uint32 // hashes
}

const (
	minTable = 1 << 8 // places
	reach    = 32     // places in which a group is looked for
)

// share has a new object share with one of its group what is equal in both. That is compared
// in full: a group only says where to look, and what is in one by chance costs room, nothing
// else. From then on the object must not be changed.
func (s *sharer[T, P]) share(object P, of group) {
	l, groups := s.layout.Load(), s.groups.Load()
	if l == nil {
		l = newLayout(reflect.TypeFor[T]())
		s.layout.Store(l)
	}
	if groups == nil || s.used.Load() > int64(len(*groups)/2) || s.shared.Add(1) > int64(2*len(*groups)) {
		groups = s.renew(groups)
	}
	place, found := groups.find(of)
	known := found
	if known == nil {
		known = &models[T]{group: of}
	}
	if model := known.any(); model != nil {
		l.merge(unsafe.Pointer(object), unsafe.Pointer(model))
	} else if s.within != nil {
		s.within(object)
	}
	uid := uint32(maphash.String(seed, string(object.GetUID())))
	i := uid % uint32(len(known.uids))
	if place == nil || object.GetDeletionTimestamp() != nil || known.uids[i] != uid && known.objects[i].Value() != nil {
		return // what goes soon is no model
	}
	if found != nil {
		changed := *found
		known = &changed
	}
	l.settle(unsafe.Pointer(object))
	known.objects[i], known.uids[i] = weak.Make((*T)(object)), uid
	if place.CompareAndSwap(found, known) && found == nil {
		s.used.Add(1)
	}
}

// find returns the place of a group and its models. If it is not known, that is a place for it and nil, or
// nil if there is none.
func (t table[T]) find(of group) (*atomic.Pointer[models[T]], *models[T]) {
	for i := range group(reach) {
		place := &t[(of+i*(of>>32|1))%group(len(t))]
		if found := place.Load(); found == nil || found.group == of {
			return place, found
		}
	}
	return nil, nil
}

// any returns a model, nil if all are gone.
func (m *models[T]) any() *T {
	for i := range m.objects {
		if model := m.objects[i].Value(); model != nil {
			return model
		}
	}
	return nil
}

// renew makes a table of the groups of which an object is left, with room for three times as many more, and returns it.
// If another goroutine does that already, it returns the old one.
func (s *sharer[T, P]) renew(old *table[T]) *table[T] {
	if old != nil && !s.renewal.CompareAndSwap(false, true) {
		return old
	}
	defer s.renewal.Store(false)
	var left []*models[T]
	if old != nil {
		for i := range *old {
			if m := (*old)[i].Load(); m != nil && m.any() != nil {
				left = append(left, m)
			}
		}
	}
	size := minTable
	for size < 4*len(left) {
		size *= 2
	}
	groups := make(table[T], size)
	used := int64(0)
	for _, m := range left {
		if place, _ := groups.find(m.group); place != nil {
			place.Store(m)
			used++
		}
	}
	s.used.Store(used)
	s.shared.Store(0)
	s.groups.Store(&groups)
	return &groups
}
