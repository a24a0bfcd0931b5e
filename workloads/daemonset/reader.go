// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	// DaemonSet returns a DaemonSet, or an error for which
	// apierrors.IsNotFound holds.
	DaemonSet(namespace, name string) (*v1alpha1.DaemonSet, error)
	// Pods returns the pods of the namespace that name the UID as an owner, and
	// those without a controller that match the selector.
	Pods(namespace string, owner types.UID, selector labels.Selector) ([]*corev1.Pod, error)
	// Revisions returns the revisions of the namespace that name the UID as
	// an owner, and those without a controller that match the selector.
	Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error)
	// Nodes returns all nodes, in any order. Pods that wait for a node that is not
	// among them are deleted.
	Nodes() ([]*corev1.Node, error)
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile returns an error, unless
	// Options.AllowStaleReads is set. The caches must hold all objects of their
	// namespaces: a pod that was created and does not appear is an error.
	SyncedResourceVersion(Resource) string
}

// informerReader reads informers that New has indexed.
type informerReader struct {
	caches.Stores
	caches.Owned
	sets  client.DaemonSetLister
	nodes corev1listers.NodeLister
}

func newInformerReader(o *Options) *informerReader {
	return &informerReader{
		Stores: controller.Stores(reads(o)),
		Owned:  caches.Owned{PodCache: o.Pods, RevisionCache: o.Revisions},
		sets:   client.NewDaemonSetLister(o.DaemonSets.GetIndexer()),
		nodes:  corev1listers.NewNodeLister(o.Nodes.GetIndexer()),
	}
}

func (r *informerReader) DaemonSet(namespace, name string) (*v1alpha1.DaemonSet, error) {
	return r.sets.Namespace(namespace).Get(name)
}

func (r *informerReader) Pods(namespace string, owner types.UID, selector labels.Selector) ([]*corev1.Pod, error) {
	return caches.OwnedOrOrphaned[*corev1.Pod](r.PodCache.GetIndexer(), namespace, owner, selector)
}

func (r *informerReader) Nodes() ([]*corev1.Node, error) { return r.nodes.List(labels.Everything()) }
