// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes one
// over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	workloads.PodReader
	workloads.ClaimReader
	workloads.RevisionReader
	// CloneSet returns a CloneSet, or an error for which apierrors.IsNotFound holds.
	CloneSet(namespace, name string) (*v1alpha1.CloneSet, error)
	// Node returns a node, of which labels and taints are read; nil when it is not known. It is
	// asked about the nodes of pods that are not ready and, under topology spread constraints, of all pods; not with NoNodes.
	Node(name string) *corev1.Node
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) CloneSet(namespace, name string) (*v1alpha1.CloneSet, error) {
	return caches.Get[*v1alpha1.CloneSet](r.Reader, ResourceCloneSets, namespace, name)
}
