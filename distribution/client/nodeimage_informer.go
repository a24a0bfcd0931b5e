package client

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// NewNodeImageInformer makes an informer that keeps a copy of the NodeImages of
// the cluster. The caller starts it.
//
// Every resync period (0: never) the informer reports all objects to its
// handlers again. The indexers may be nil.
func NewNodeImageInformer(c Interface, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.NodeImages(), c, &v1alpha1.NodeImage{}, resync, indexers)
}

// NewFilteredNodeImageInformer is NewNodeImageInformer for a part of the objects,
// for example that of one node: the filter sets selectors in the options of every
// list and watch, and nothing else.
func NewFilteredNodeImageInformer(c Interface, resync time.Duration, indexers cache.Indexers, filter func(*metav1.ListOptions)) cache.SharedIndexInformer {
	selected := typedclient.Selected[*v1alpha1.NodeImageList]{ListWatcher: c.NodeImages(), Select: filter}
	return typedclient.NewInformer(selected, c, &v1alpha1.NodeImage{}, resync, indexers)
}
