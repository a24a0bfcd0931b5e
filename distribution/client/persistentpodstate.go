// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/typedclient"
)

// PersistentPodStateInterface reads and writes PersistentPodStates, with the methods of
// client-go's clients: Create, Update, UpdateStatus, Delete, DeleteCollection, Get,
// List, Watch and Patch.
type PersistentPodStateInterface = typedclient.Interface[*v1alpha1.PersistentPodState, *v1alpha1.PersistentPodStateList]

// PersistentPodStates gives the client of the PersistentPodStates of a namespace.
func (c *Client) PersistentPodStates(namespace string) PersistentPodStateInterface {
	return typedclient.New[v1alpha1.PersistentPodState, v1alpha1.PersistentPodStateList](c.backend, v1alpha1.SchemeGroupVersion.WithResource("persistentpodstates"), namespace)
}

// NewPersistentPodStateInformer makes an informer of the PersistentPodStates of a namespace; the
// empty one means all namespaces. The caller starts it. Every resync period (0:
// never) it reports all objects to its handlers again. The indexers may be nil;
// listers are quick with cache.NamespaceIndex.
func NewPersistentPodStateInformer(c Interface, namespace string, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return typedclient.NewInformer(c.PersistentPodStates(namespace), c, &v1alpha1.PersistentPodState{}, resync, indexers)
}

// PersistentPodStateLister reads PersistentPodStates from a cache, with the methods List and
// Namespace, which gives one with the methods List and Get. What they return must
// not be changed.
type PersistentPodStateLister = typedclient.Lister[*v1alpha1.PersistentPodState]

// NewPersistentPodStateLister makes a lister of an informer's cache (its GetIndexer).
func NewPersistentPodStateLister(indexer cache.Indexer) PersistentPodStateLister {
	return typedclient.NewLister[*v1alpha1.PersistentPodState](indexer, v1alpha1.Resource("persistentpodstate"))
}
