// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler never
// changes it. Its methods are called by several goroutines. New makes one over
// informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// Pod returns a pod, or an error for which apierrors.IsNotFound holds.
	Pod(namespace, name string) (*corev1.Pod, error)
	// Node returns a node, or an error for which apierrors.IsNotFound holds. Its labels
	// are read.
	Node(name string) (*corev1.Node, error)
	// Request returns a request, or an error for which apierrors.IsNotFound holds.
	Request(namespace, name string) (*lifecyclev1alpha1.ContainerRecreateRequest, error)
}

// informerReader reads informers.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return caches.Get[*corev1.Pod](r.Reader, resourcePods, namespace, name)
}

func (r informerReader) Node(name string) (*corev1.Node, error) {
	return caches.Get[*corev1.Node](r.Reader, resourceNodes, "", name)
}

func (r informerReader) Request(namespace, name string) (*lifecyclev1alpha1.ContainerRecreateRequest, error) {
	return caches.Get[*lifecyclev1alpha1.ContainerRecreateRequest](r.Reader, resourceRequests, namespace, name)
}
