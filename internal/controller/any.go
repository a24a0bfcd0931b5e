package controller

import "k8s.io/client-go/tools/cache"

// OfAny calls changed for every change of an object of type *T: before is nil
// where the object is new, after is nil where it is gone. Objects that were
// there when the watch began are new only with initial.
func OfAny[T any](initial bool, changed func(before, after *T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			if object, ok := obj.(*T); ok && (initial || !isInInitialList) {
				changed(nil, object)
			}
		},
		UpdateFunc: func(before, after any) {
			b, ok1 := before.(*T)
			a, ok2 := after.(*T)
			if ok1 && ok2 {
				changed(b, a)
			}
		},
		DeleteFunc: func(obj any) {
			if object, ok := last(obj).(*T); ok {
				changed(object, nil)
			}
		},
	}
}
