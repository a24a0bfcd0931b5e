// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// Request returns a request, or an error for which apierrors.IsNotFound
	// holds.
	Request(namespace, name string) (*v1alpha1.ContainerRecreateRequest, error)
	// Pod returns a pod, or an error for which apierrors.IsNotFound holds.
	Pod(namespace, name string) (*corev1.Pod, error)
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile returns an error, unless
	// Options.AllowStaleReads is set.
	SyncedResourceVersion(Resource) string
}

// informerReader reads informers.
type informerReader struct {
	caches.Stores
	requests client.ContainerRecreateRequestLister
	pods     corelisters.PodLister
}

func newInformerReader(o *Options) *informerReader {
	return &informerReader{
		Stores:   controller.Stores(reads(o)),
		requests: client.NewContainerRecreateRequestLister(o.Requests.GetIndexer()),
		pods:     corelisters.NewPodLister(o.Pods.GetIndexer()),
	}
}

func (r *informerReader) Request(namespace, name string) (*v1alpha1.ContainerRecreateRequest, error) {
	return r.requests.Namespace(namespace).Get(name)
}

func (r *informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return r.pods.Pods(namespace).Get(name)
}
