// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler never
// changes it. Its methods are called by several goroutines. New makes one over
// informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// Eviction returns an Eviction, or an error for which apierrors.IsNotFound holds.
	Eviction(namespace, name string) (*Eviction, error)
	// Pod returns a pod, or an error for which apierrors.IsNotFound holds.
	Pod(namespace, name string) (*corev1.Pod, error)
	// Pods returns the pods of a namespace that the UID controls, in any order.
	Pods(namespace string, owner types.UID) ([]*corev1.Pod, error)
	// CloneSet returns a CloneSet, or an error for which apierrors.IsNotFound holds; so it does
	// if CloneSets are not read.
	CloneSet(namespace, name string) (*workloadsv1alpha1.CloneSet, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) Eviction(namespace, name string) (*Eviction, error) {
	return caches.Get[*Eviction](r.Reader, resourceEvictions, namespace, name)
}

func (r informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return caches.Get[*corev1.Pod](r.Reader, resourcePods, namespace, name)
}

func (r informerReader) CloneSet(namespace, name string) (*workloadsv1alpha1.CloneSet, error) {
	return caches.Get[*workloadsv1alpha1.CloneSet](r.Reader, resourceCloneSets, namespace, name)
}
