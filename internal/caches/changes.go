// SPDX-License-Identifier: Apache-2.0

package caches

import "k8s.io/client-go/tools/cache"

// OnChange has a function called when an object of an informer comes or goes, and when what is read of it changes. The
// goroutine that the informer has for it calls it.
func OnChange[K comparable](informer cache.SharedIndexInformer, read func(object any) K, changed func()) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, DeleteFunc: func(any) { changed() },
		UpdateFunc: func(before, after any) {
			if read(before) != read(after) {
				changed()
			}
		},
	})
	return err
}
