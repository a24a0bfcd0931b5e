// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/consistency"
)

// Resource names a cache: ResourcePods.
type Resource = consistency.Resource

// ResourcePods is the cache that a Reconciler reads.
const ResourcePods Resource = consistency.Pods

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// Pod returns a pod, or an error for which apierrors.IsNotFound holds.
	Pod(namespace, name string) (*corev1.Pod, error)
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile does not wait until the
	// cache is at the resourceVersion of its last write.
	SyncedResourceVersion(Resource) string
}

// informerReader reads an informer.
type informerReader struct {
	caches.Stores
	pods corelisters.PodLister
}

func newInformerReader(pods cache.SharedIndexInformer) *informerReader {
	return &informerReader{
		Stores: caches.Stores{ResourcePods: pods.GetStore()},
		pods:   corelisters.NewPodLister(pods.GetIndexer()),
	}
}

func (r *informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return r.pods.Pods(namespace).Get(name)
}

// pod returns a pod; nil where it does not exist.
func (r *Reconciler) pod(key types.NamespacedName) (*corev1.Pod, error) {
	pod, err := r.reader.Pod(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read pod %s: %w", key, err)
	}
	return pod, nil
}
