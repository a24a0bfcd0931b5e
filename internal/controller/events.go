// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
)

// Event is what an informer reports of an object. Its objects are shared with the
// cache.
type Event struct {
	// Before is nil for an object that appears, After for one that is gone.
	Before, After metav1.Object
	// changed is what differs of the fields that the kind declares; all of them
	// for an object that appears or is gone.
	changed Fields
	// Initial says that the object was there when the informer started.
	Initial bool
}

// Object is the newer of the two.
func (e Event) Object() metav1.Object {
	if e.After != nil {
		return e.After
	}
	return e.Before
}

// Key names the object of the event.
func (e Event) Key() types.NamespacedName { return keyOf(e.Object()) }

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// Enqueue has an object reconciled.
type Enqueue func(key types.NamespacedName)

// Concern enqueues the objects of a kind that an event concerns.
type Concern func(e Event, enqueue Enqueue)

// On is a Concern about objects of the type T. Before or after may be nil.
func On[T any, O interface {
	*T
	metav1.Object
}](concern func(before, after O, enqueue Enqueue)) Concern {
	return func(e Event, enqueue Enqueue) {
		before, _ := e.Before.(O)
		after, _ := e.After.(O)
		concern(before, after, enqueue)
	}
}

// Workload are the fields of the object that a controller reconciles, whose
// generation counts the changes of its spec.
const Workload = Generation | Labels | Annotations | Status

// wroteStatus tells whether a status is the one that the controller wrote last.
type wroteStatus func(key types.NamespacedName, resourceVersion string, status any) bool

// itself enqueues the object of the event, but not when all that has changed is
// the status, which the controller itself wrote.
func itself(wrote wroteStatus) Concern {
	return func(e Event, enqueue Enqueue) {
		if e.changed == Status && wrote != nil && wrote(e.Key(), e.After.GetResourceVersion(), statusOf(e.After)) {
			return
		}
		enqueue(e.Key())
	}
}

// EachOf enqueues what keys names for an object, before and after the event if
// its owners or its identity have changed.
func EachOf(keys func(metav1.Object) []types.NamespacedName) Concern {
	return func(e Event, enqueue Enqueue) {
		if e.Before != nil && e.After != nil && e.changed&Owners != 0 {
			for _, key := range keys(e.Before) {
				enqueue(key)
			}
		}
		for _, key := range keys(e.Object()) {
			enqueue(key)
		}
	}
}

// subscription is the interest of one kind in the events of one informer.
type subscription struct {
	fields  Fields
	owner   schema.GroupKind // of the objects' owners; zero: concern decides
	concern Concern
	enqueue Enqueue
	initial Enqueue // for objects that were there at the start; nil: they are no events
	// objects counts those that concern can enqueue; nil if it may enqueue others.
	objects *atomic.Int64
}

// wants tells whether an event may concern the kind.
func (s *subscription) wants(e Event) bool {
	return e.changed != 0 && (s.initial != nil || !e.Initial) && (s.objects == nil || s.objects.Load() > 0)
}

// enqueues is how what an event concerns is enqueued.
func (s *subscription) enqueues(e Event) Enqueue {
	if e.Initial {
		return s.initial
	}
	return s.enqueue
}

// dispatcher is the one handler of an informer: it decides once whom an event
// concerns, however many kinds have subscribed.
//
// It is found through the informer itself, among whose indexes it stands. So controllers
// that are made one by one share it without knowing each other, and it goes when the
// informer goes. A map from informers to handlers would be a global.
type dispatcher struct {
	objects atomic.Int64 // that the informer has reported, and that are not gone

	lock   sync.Mutex
	begun  bool // an event has come
	fields Fields
	others []*subscription
	owned  map[schema.GroupKind][]*subscription
}

// dispatcherIndex is the name of the index that holds no objects, and answers a
// *whose with the dispatcher.
const dispatcherIndex = "podwright.events"

type whose struct{ dispatcher *dispatcher }

// subscribing is held while a subscription is added: a dispatcher that others find is the
// handler of its informer already, so that they miss nothing.
var subscribing sync.Mutex

// subscribe adds a subscription to an informer. Objects that are in its cache
// are reported as new ones, also if the informer runs already. It returns the
// count of the objects that the informer has reported.
func subscribe(informer cache.SharedIndexInformer, s *subscription) (objects *atomic.Int64, err error) {
	subscribing.Lock()
	defer subscribing.Unlock()
	d := &dispatcher{}
	found, err := dispatcherOf(informer, d)
	if err != nil {
		return nil, err
	}
	if found != d && found.add(s) {
		return &found.objects, nil
	} // otherwise events have come already, which the informer repeats for a handler of its own only
	d.add(s)
	_, err = informer.AddEventHandler(d)
	return &d.objects, err
}

// dispatcherOf returns the dispatcher of an informer, which becomes the given one if it
// had none.
func dispatcherOf(informer cache.SharedIndexInformer, first *dispatcher) (*dispatcher, error) {
	index, err := caches.EnsureIndex(informer, podwright.Index{Name: dispatcherIndex, Keys: func(object any) ([]string, error) {
		if w, asks := object.(*whose); asks {
			w.dispatcher = first
		}
		return nil, nil
	}})
	if err != nil {
		return nil, err
	}
	var w whose
	_, err = index(&w)
	return w.dispatcher, err
}

// add adds a subscription, unless events have come that it would miss.
func (d *dispatcher) add(s *subscription) bool {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.begun {
		return false
	}
	d.fields |= s.fields
	if s.owner.Empty() {
		d.others = append(d.others, s)
		return true
	}
	d.fields |= Owners
	if d.owned == nil {
		d.owned = map[schema.GroupKind][]*subscription{}
	}
	d.owned[s.owner] = append(d.owned[s.owner], s)
	return true
}

// begin lets no controller subscribe any more.
func (d *dispatcher) begin() {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.begun = true
}

// OnAdd, OnUpdate and OnDelete are cache.ResourceEventHandler. They are called by
// one goroutine.

func (d *dispatcher) OnAdd(obj any, isInInitialList bool) {
	if object, ok := obj.(metav1.Object); ok {
		d.objects.Add(1)
		d.dispatch(Event{After: object, changed: Everything, Initial: isInInitialList})
	}
}

func (d *dispatcher) OnUpdate(before, after any) {
	b, ok1 := before.(metav1.Object)
	a, ok2 := after.(metav1.Object)
	if !ok1 || !ok2 {
		return
	}
	d.begin()
	if changed := Changed(b, a, d.fields); changed != 0 {
		d.dispatch(Event{Before: b, After: a, changed: changed})
	}
}

func (d *dispatcher) OnDelete(obj any) {
	if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = missed.Obj
	}
	if object, ok := obj.(metav1.Object); ok {
		d.dispatch(Event{Before: object, changed: Everything})
		d.objects.Add(-1)
	}
}

func (d *dispatcher) dispatch(e Event) {
	d.begin()
	for _, s := range d.others {
		its := e
		its.changed &= s.fields
		if s.wants(its) {
			s.concern(its, s.enqueues(e))
		}
	}
	if len(d.owned) == 0 {
		return
	}
	if e.Before != nil && e.After != nil && e.changed&Owners != 0 {
		d.toOwners(e.Before, e)
	}
	d.toOwners(e.Object(), e)
}

// toOwners enqueues the owners of an object.
func (d *dispatcher) toOwners(object metav1.Object, e Event) {
	for _, owner := range object.GetOwnerReferences() {
		for _, s := range d.owned[groupKind(&owner)] {
			if e.changed&(s.fields|Owners) != 0 && (s.initial != nil || !e.Initial) {
				s.enqueues(e)(types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name})
			}
		}
	}
}

// groupKind leaves the version out: owners count in any.
func groupKind(owner *metav1.OwnerReference) schema.GroupKind {
	group, _, found := strings.Cut(owner.APIVersion, "/")
	if !found {
		group = "" // the core group
	}
	return schema.GroupKind{Group: group, Kind: owner.Kind}
}
