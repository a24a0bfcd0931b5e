// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	// StatefulSet returns a StatefulSet, or an error for which
	// apierrors.IsNotFound holds.
	StatefulSet(namespace, name string) (*v1beta1.StatefulSet, error)
	// Pods returns the pods of the namespace whose name is that of the
	// StatefulSet, a dash and a number, whoever owns them.
	Pods(namespace, set string) ([]*corev1.Pod, error)
	// Claim returns a claim; nil where there is none.
	Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error)
	// Claims returns the claims of the namespace that name the UID as an owner,
	// whether a pod mounts them or not.
	Claims(namespace string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error)
	// Revisions returns the revisions of the namespace that name the UID as
	// an owner, and those without a controller that match the selector.
	Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error)
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
	sets client.StatefulSetLister
}

func newInformerReader(o *Options) *informerReader {
	return &informerReader{
		Stores: controller.Stores(reads(o)),
		Owned:  caches.Owned{PodCache: o.Pods, ClaimCache: o.Claims, RevisionCache: o.Revisions},
		sets:   client.NewStatefulSetLister(o.StatefulSets.GetIndexer()),
	}
}

func (r *informerReader) StatefulSet(namespace, name string) (*v1beta1.StatefulSet, error) {
	return r.sets.Namespace(namespace).Get(name)
}

func (r *informerReader) Pods(namespace, set string) ([]*corev1.Pod, error) {
	return caches.Members[*corev1.Pod](r.PodCache.GetIndexer(), namespace, set)
}

func (r *informerReader) Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	object, found, err := r.ClaimCache.GetIndexer().GetByKey(namespace + "/" + name)
	if err != nil || !found {
		return nil, err
	}
	claim, ok := object.(*corev1.PersistentVolumeClaim)
	if !ok {
		return nil, fmt.Errorf("the cache holds a %T where a claim is wanted", object)
	}
	return claim, nil
}
