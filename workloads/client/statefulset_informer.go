package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// NewStatefulSetInformer makes an informer that keeps a copy of the
// StatefulSets of a namespace; the empty namespace means all namespaces. The
// caller starts it.
//
// Every resync period (0: never) the informer reports all objects to its
// handlers again. The indexers may be nil; NewStatefulSetLister finds the
// objects of a namespace quickly only with the indexer
// cache.NamespaceIndex: cache.MetaNamespaceIndexFunc.
func NewStatefulSetInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.StatefulSets(namespace), c, &v1beta1.StatefulSet{}, resync, indexers)
}
