package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
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
	return typedclient.NewInformer(c.CloneSets(namespace), c, &v1alpha1.CloneSet{}, resync, indexers)
}
