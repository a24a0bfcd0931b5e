// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Guard finds objects of caches that code has changed, which none may,
// since they are shared. It does what client-go's KUBE_CACHE_MUTATION_DETECTOR
// does, but when the test asks and not every second.
type Guard struct {
	lock    sync.Mutex
	objects map[runtime.Object]runtime.Object // to their copies
}

// Transform is for an informer's SetTransform. It does what next does, which may be nil. It remembers what the object
// was when it entered the cache.
func (g *Guard) Transform(next cache.TransformFunc) cache.TransformFunc {
	return func(obj any) (any, error) {
		if next != nil {
			var err error
			if obj, err = next(obj); err != nil {
				return nil, err
			}
		}
		if object, ok := obj.(runtime.Object); ok {
			g.lock.Lock()
			defer g.lock.Unlock()
			if g.objects == nil {
				g.objects = map[runtime.Object]runtime.Object{}
			}
			g.objects[object] = object.DeepCopyObject()
		}
		return obj, nil
	}
}

// Check returns an error that shows an object that has been changed.
func (g *Guard) Check() error {
	g.lock.Lock()
	defer g.lock.Unlock()
	for object, copied := range g.objects {
		if !reflect.DeepEqual(object, copied) {
			return fmt.Errorf("an object of a cache was changed from\n%+v\nto\n%+v", copied, object)
		}
	}
	return nil
}
