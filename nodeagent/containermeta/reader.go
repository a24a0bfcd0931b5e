// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
)

// resourcePods is the cache that a Reconciler reads.
const resourcePods podwright.Resource = caches.Pods

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines.
// Reconcile does not wait until a cache that cannot tell how far it is has come to
// its last write. New makes a Reader over informers; another lets a Reconciler run on
// the caches of another framework.
type Reader interface {
	podwright.Caches
	// Pod returns a pod, or an error for which apierrors.IsNotFound holds.
	Pod(namespace, name string) (*corev1.Pod, error)
}

// informerReader reads an informer.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return caches.Get[*corev1.Pod](r.Reader, resourcePods, namespace, name)
}

// pod returns a pod; nil if it does not exist.
func (r *reconciler) pod(key types.NamespacedName) (*corev1.Pod, error) {
	pod, err := r.reader.Pod(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read pod %s: %w", key, err)
	}
	return pod, nil
}
