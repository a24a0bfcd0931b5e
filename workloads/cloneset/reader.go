// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	// CloneSet returns a CloneSet, or an error for which apierrors.IsNotFound holds.
	CloneSet(namespace, name string) (*v1alpha1.CloneSet, error)
	// Pods returns the pods of the namespace that name the UID as an owner.
	Pods(namespace string, owner types.UID) ([]*corev1.Pod, error)
	// Claims returns the claims of the namespace that name the UID as an owner.
	Claims(namespace string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error)
	// Revisions returns the revisions of the namespace that name the UID as an
	// owner, and those without a controller that match the selector, each once.
	Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error)
	// NodeLabels returns the labels of a node; nil when the node is not known.
	NodeLabels(node string) map[string]string
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile returns an error, unless
	// Options.AllowStaleReads is set. The caches must hold all objects of their
	// namespaces: a pod that was created and does not appear is an error.
	SyncedResourceVersion(Resource) string
}

// informerReader reads informers that caches.AddOwnerIndex has indexed.
type informerReader struct {
	caches.Stores
	caches.Owned
	sets client.CloneSetLister
}

func newInformerReader(o *Options) *informerReader {
	return &informerReader{
		Stores: controller.Stores(reads(o)),
		Owned:  caches.Owned{PodCache: o.Pods, ClaimCache: o.Claims, RevisionCache: o.Revisions, NodeCache: o.Nodes},
		sets:   client.NewCloneSetLister(o.CloneSets.GetIndexer()),
	}
}

func (r *informerReader) CloneSet(namespace, name string) (*v1alpha1.CloneSet, error) {
	return r.sets.Namespace(namespace).Get(name)
}
