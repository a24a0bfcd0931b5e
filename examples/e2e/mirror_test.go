package e2e

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

// source lists and watches the objects of one kind in one namespace.
type source struct {
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// mirror follows the objects of a source through every state they are in, in the order in which the API server stored
// them. client-go's informers would do for waiting, but they put the changes of one object together, and a budget is about
// the order of changes to different ones. It outlives the API server: a watch is taken up where it ended, and only where
// that is too long ago, the objects are listed again.
type mirror[T metav1.Object] struct {
	source source
	// changed is called after every change, with all objects, outside of the lock.
	changed func()
	// observe is told every change, within the lock: the old or the new object is nil where there is none. It may look at
	// all objects.
	observe func(all map[types.UID]T, old, new *T, at string)

	mu      sync.Mutex
	objects map[types.UID]T
	version string // up to which it has come
	lists   int    // how often all objects had to be listed: what happened between two of them is only seen in its result
}

// again is how soon a request is repeated that the API server did not answer.
const again = 50 * time.Millisecond

var errTooOld = errors.New("the watch cannot be taken up")

// follow fills the mirror, tells so by closing filled, and keeps it up to date until the context is done.
func (m *mirror[T]) follow(ctx context.Context, filled chan<- struct{}) {
	for ctx.Err() == nil {
		version, err := m.relist(ctx)
		if err != nil {
			pause(ctx)
			continue
		}
		if filled != nil {
			close(filled)
			filled = nil
		}
		for ctx.Err() == nil {
			version, err = m.watch(ctx, version)
			if errors.Is(err, errTooOld) {
				break
			}
			if err != nil {
				pause(ctx)
			}
		}
	}
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(again):
	}
}

// relist replaces all objects by those that there are.
func (m *mirror[T]) relist(ctx context.Context) (version string, err error) {
	list, err := m.source.list(ctx, metav1.ListOptions{})
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
		m.set(object, version)
	}
	for uid := range m.objects {
		if !present[uid] {
			m.remove(uid, version)
		}
	}
	m.version = version
	m.mu.Unlock()
	m.changed()
	return version, nil
}

// watch follows the changes after a version, and returns up to where it got.
func (m *mirror[T]) watch(ctx context.Context, version string) (string, error) {
	watcher, err := m.source.watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
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
			m.remove(object.GetUID(), version)
		} else {
			m.set(object, version)
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

func (m *mirror[T]) set(object T, version string) {
	old, known := m.objects[object.GetUID()]
	if known && old.GetResourceVersion() == object.GetResourceVersion() {
		return
	}
	m.objects[object.GetUID()] = object
	if m.observe == nil {
		return
	}
	if known {
		m.observe(m.objects, &old, &object, version)
	} else {
		m.observe(m.objects, nil, &object, version)
	}
}

func (m *mirror[T]) remove(uid types.UID, version string) {
	old, known := m.objects[uid]
	delete(m.objects, uid)
	if known && m.observe != nil {
		m.observe(m.objects, &old, nil, version)
	}
}

// behind says how far a mirror is from a version; nothing when it has come there.
func (m *mirror[T]) behind(version string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if order, err := resourceversion.CompareResourceVersion(m.version, version); err != nil || order < 0 {
		return fmt.Sprintf("it is at %s (%v)", m.version, err)
	}
	return ""
}

// all returns the objects as they are now, in no order. They are shared and must not be changed.
func (m *mirror[T]) all() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	objects := make([]T, 0, len(m.objects))
	for _, object := range m.objects {
		objects = append(objects, object)
	}
	return objects
}

// named returns the object of a name.
func (m *mirror[T]) named(name string) (object T, found bool) {
	for _, object := range m.all() {
		if object.GetName() == name {
			return object, true
		}
	}
	return object, false
}
