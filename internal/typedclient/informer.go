// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"context"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// ListWatcher is the part of a typed client that an informer needs.
type ListWatcher[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// Select is a ListWatcher of a part of the objects: the filter adds selectors to the
// options of every list and watch; nil adds none.
func Select[L runtime.Object](objects ListWatcher[L], filter func(*metav1.ListOptions)) ListWatcher[L] {
	if filter == nil {
		return objects
	}
	return selected[L]{objects, filter}
}

type selected[L runtime.Object] struct {
	all    ListWatcher[L]
	filter func(*metav1.ListOptions)
}

func (s selected[L]) List(ctx context.Context, opts metav1.ListOptions) (L, error) {
	s.filter(&opts)
	return s.all.List(ctx, opts)
}

func (s selected[L]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	s.filter(&opts)
	return s.all.Watch(ctx, opts)
}

// NewInformer makes an informer of the objects that a typed client lists. The example is
// an empty object of their kind. The client is asked whether it can start a watch with
// what there is; a fake one cannot. The indexers may be nil. The informer keeps a copy of
// them, since indexes that are added to it later are those of this informer alone.
func NewInformer[L runtime.Object](
	objects ListWatcher[L], client any, example runtime.Object,
	resync time.Duration, indexers cache.Indexers,
) cache.SharedIndexInformer {
	own := cache.Indexers{}
	maps.Copy(own, indexers)
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return objects.List(ctx, opts)
		},
		WatchFuncWithContext: objects.Watch,
	}
	return cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(listWatch, client), example,
		cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: own},
	)
}
