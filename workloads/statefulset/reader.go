// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	workloads.ClaimReader
	workloads.RevisionReader
	// StatefulSet returns a StatefulSet, or an error for which
	// apierrors.IsNotFound holds.
	StatefulSet(namespace, name string) (*v1beta1.StatefulSet, error)
	// Pods returns the pods of the namespace whose name is that of the
	// StatefulSet, a dash and a number, whatever owns them.
	Pods(namespace, set string) ([]*corev1.Pod, error)
	// Claim returns a claim; nil if there is none.
	Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) StatefulSet(namespace, name string) (*v1beta1.StatefulSet, error) {
	return caches.Get[*v1beta1.StatefulSet](r.Reader, resourceStatefulSets, namespace, name)
}

func (r informerReader) Pods(namespace, set string) ([]*corev1.Pod, error) {
	return caches.Members[*corev1.Pod](r.Reader[resourcePods], namespace, set)
}

func (r informerReader) Claim(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	return apiwriter.Found(caches.Get[*corev1.PersistentVolumeClaim](r.Reader, resourceClaims, namespace, name))
}
