// SPDX-License-Identifier: Apache-2.0

// Package mirror follows the objects of a namespace through every state that they are in, for tests and demos.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
)

// Source lists and watches the objects of one kind in one namespace.
type Source struct {
	List  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	Watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// Of makes a source of a client, with its methods List and Watch.
func Of[L runtime.Object](client interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}) Source {
	return From(client.List, client.Watch)
}

// From makes a source of two functions.
func From[L runtime.Object](list func(context.Context, metav1.ListOptions) (L, error),
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)) Source {
	return Source{
		List:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) },
		Watch: watch,
	}
}

// Observer is told every change of an object in its order: old or new is nil if there is none. Changes in a gap come of a
// list. Each lumps together what has happened to an object since the watch that broke. The version is that of the list
// then. An Observer may look at all objects, and must not ask the mirror.
type Observer[T metav1.Object] func(all map[types.UID]T, old, new *T, version string, gap bool)

// Mirror follows the objects of a source through every state they are in, in the order in which the API server stored
// them. client-go's informers would do for waiting. But they put the changes of one object together. A budget is about
// the order of changes to different ones. A Mirror outlives the API server. A watch is taken up where it ended, and
// only if that is too long ago, the objects are listed again.
type Mirror[T metav1.Object] struct {
	source  Source
	observe Observer[T] // called within the lock
	changed func()      // called after every change, outside of the lock
	filled  chan struct{}

	mu      sync.Mutex
	objects map[types.UID]T
	version string // up to which it has come
	failure error  // of the last list; nil for none
	lists   int
}

// New returns a mirror that is empty until it runs. observe may be nil; changed is called after every change.
func New[T metav1.Object](source Source, observe Observer[T], changed func()) *Mirror[T] {
	return &Mirror[T]{source: source, observe: observe, changed: changed, filled: make(chan struct{}), objects: map[types.UID]T{}}
}

// Filled is closed when the objects have been listed for the first time.
func (m *Mirror[T]) Filled() <-chan struct{} { return m.filled }

// Err is why the objects could not be listed when they were asked for last; nil if they were.
func (m *Mirror[T]) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failure
}

func (m *Mirror[T]) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = err
}

// again is how soon a request is repeated that the API server did not answer.
const again = 50 * time.Millisecond

var errTooOld = errors.New("the watch cannot be taken up")

// Run fills the mirror, and keeps it up to date until the context is done. It can be called once.
func (m *Mirror[T]) Run(ctx context.Context) {
	filled := sync.OnceFunc(func() { close(m.filled) })
	for ctx.Err() == nil {
		version, err := m.relist(ctx)
		m.fail(err)
		if err != nil {
			Pause(ctx)
			continue
		}
		filled()
		for ctx.Err() == nil {
			version, err = m.watch(ctx, version)
			if errors.Is(err, errTooOld) {
				break
			}
			if err != nil {
				Pause(ctx)
			}
		}
	}
}

// Pause waits until a request may be repeated, or the context is done.
func Pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(again):
	}
}

// relist replaces all objects by those that there are.
func (m *Mirror[T]) relist(ctx context.Context) (version string, err error) {
	list, err := m.source.List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return "", err
	}
	listed, err := meta.ListAccessor(list)
	if err != nil {
		return "", err
	}
	present := map[types.UID]bool{}
	version = listed.GetResourceVersion()
	m.mu.Lock()
	m.lists++
	for _, item := range items {
		object := item.(T)
		present[object.GetUID()] = true
		m.set(object, version, true)
	}
	for uid := range m.objects {
		if !present[uid] {
			m.remove(uid, version, true)
		}
	}
	m.version = version
	m.mu.Unlock()
	m.changed()
	return version, nil
}

// watch follows the changes after a version, and returns the last version that it saw.
func (m *Mirror[T]) watch(ctx context.Context, version string) (string, error) {
	watcher, err := m.source.Watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
	if err != nil {
		return version, tooOld(err)
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if event.Type == watch.Error {
			return version, tooOld(apierrors.FromObject(event.Object))
		}
		object := event.Object.(T)
		version = object.GetResourceVersion()
		if event.Type == watch.Bookmark {
			continue
		}
		m.mu.Lock()
		if event.Type == watch.Deleted {
			m.remove(object.GetUID(), version, false)
		} else {
			m.set(object, version, false)
		}
		m.version = version
		m.mu.Unlock()
		m.changed()
	}
	return version, nil
}

func tooOld(err error) error {
	if apierrors.IsGone(err) || apierrors.IsResourceExpired(err) {
		return errTooOld
	}
	return err
}

func (m *Mirror[T]) set(object T, version string, gap bool) {
	old, known := m.objects[object.GetUID()]
	if known && old.GetResourceVersion() == object.GetResourceVersion() {
		return
	}
	m.objects[object.GetUID()] = object
	if m.observe == nil {
		return
	}
	if known {
		m.observe(m.objects, &old, &object, version, gap)
	} else {
		m.observe(m.objects, nil, &object, version, gap)
	}
}

func (m *Mirror[T]) remove(uid types.UID, version string, gap bool) {
	old, known := m.objects[uid]
	delete(m.objects, uid)
	if known && m.observe != nil {
		m.observe(m.objects, &old, nil, version, gap)
	}
}

// Behind says how far a mirror is from a version; nothing when it has come there.
func (m *Mirror[T]) Behind(version string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if order, err := resourceversion.CompareResourceVersion(m.version, version); err != nil || order < 0 {
		return fmt.Sprintf("it is at %s (%v)", m.version, err)
	}
	return ""
}

// All returns the objects as they are now, in no order. They are shared and must not be changed.
func (m *Mirror[T]) All() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	objects := make([]T, 0, len(m.objects))
	for _, object := range m.objects {
		objects = append(objects, object)
	}
	return objects
}

// Named returns the object of a name.
func (m *Mirror[T]) Named(name string) (object T, found bool) {
	for _, object := range m.All() {
		if object.GetName() == name {
			return object, true
		}
	}
	return object, false
}

// Lists returns how often all objects had to be listed: what happened between two of them is only seen in its result.
func (m *Mirror[T]) Lists() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lists
}
