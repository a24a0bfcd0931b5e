// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// SidecarSet returns a SidecarSet, or an error for which apierrors.IsNotFound holds.
	SidecarSet(name string) (*v1alpha1.SidecarSet, error)
	// PodsFor returns the pods that the selector of a SidecarSet matches, of its namespace
	// or of all, in any order. Others among them do no harm, but take time.
	PodsFor(set *v1alpha1.SidecarSet) ([]*corev1.Pod, error)
	// Revisions returns the revisions in Options.Namespace that the UID controls,
	// in any order.
	Revisions(owner types.UID) ([]*appsv1.ControllerRevision, error)
	// Namespace returns a namespace, or an error for which apierrors.IsNotFound holds.
	Namespace(name string) (*corev1.Namespace, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) SidecarSet(name string) (*v1alpha1.SidecarSet, error) {
	return caches.Get[*v1alpha1.SidecarSet](r.Reader, resourceSidecarSets, "", name)
}

func (r informerReader) PodsFor(set *v1alpha1.SidecarSet) ([]*corev1.Pod, error) {
	return caches.PodsFor(r.Reader[resourcePods], set)
}

func (r informerReader) Revisions(owner types.UID) ([]*appsv1.ControllerRevision, error) {
	return caches.ControlledBy[*appsv1.ControllerRevision](r.Reader[resourceRevisions], owner)
}

func (r informerReader) Namespace(name string) (*corev1.Namespace, error) {
	return caches.Get[*corev1.Namespace](r.Reader, resourceNamespaces, "", name)
}
