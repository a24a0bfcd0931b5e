// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// EphemeralJob returns a job, or an error for which apierrors.IsNotFound holds.
	EphemeralJob(namespace, name string) (*v1alpha1.EphemeralJob, error)
	// Pods returns the pods of the namespace that match, in any order.
	Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) EphemeralJob(namespace, name string) (*v1alpha1.EphemeralJob, error) {
	return caches.Get[*v1alpha1.EphemeralJob](r.Reader, resourceEphemeralJobs, namespace, name)
}

func (r informerReader) Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error) {
	return caches.List[*corev1.Pod](r.Reader, resourcePods, namespace, selector)
}
