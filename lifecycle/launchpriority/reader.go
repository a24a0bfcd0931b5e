// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
)

// Reader reads a cache of pods. What it returns is shared with the cache: a
// Reconciler never changes it. Its method is called by several goroutines. New makes
// one over an informer; another lets a Reconciler run on the cache of another
// framework.
type Reader interface {
	podwright.Caches
	// Pod returns a pod, or an error for which apierrors.IsNotFound holds. Of
	// its spec, the containers and the restart policy are read.
	Pod(namespace, name string) (*corev1.Pod, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return caches.Get[*corev1.Pod](r.Reader, caches.Pods, namespace, name)
}
