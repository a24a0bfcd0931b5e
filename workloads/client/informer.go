package client

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// NewCloneSetInformer makes an informer that keeps a copy of the CloneSets of a
// namespace; the empty namespace means all namespaces. The caller starts it.
//
// Every resync period (0: never) the informer reports all objects to its
// handlers again. The indexers may be nil; NewCloneSetLister finds the objects
// of a namespace quickly only with the indexer
// cache.NamespaceIndex: cache.MetaNamespaceIndexFunc.
func NewCloneSetInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return c.CloneSets(namespace).List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return c.CloneSets(namespace).Watch(ctx, opts)
		},
	}
	return cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(listWatch, c),
		&v1alpha1.CloneSet{},
		cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers},
	)
}
