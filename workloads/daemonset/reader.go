// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

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
	workloads.RevisionReader
	workloads.NodeReader
	// DaemonSet returns a DaemonSet, or an error for which
	// apierrors.IsNotFound holds.
	DaemonSet(namespace, name string) (*v1alpha1.DaemonSet, error)
	// Pods returns the pods of the namespace that the UID controls, and
	// those without a controller that match the selector.
	Pods(namespace string, owner types.UID, selector labels.Selector) ([]*corev1.Pod, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) DaemonSet(namespace, name string) (*v1alpha1.DaemonSet, error) {
	return caches.Get[*v1alpha1.DaemonSet](r.Reader, resourceDaemonSets, namespace, name)
}

func (r informerReader) Pods(namespace string, owner types.UID, selector labels.Selector) ([]*corev1.Pod, error) {
	return caches.ControlledOrOrphaned[*corev1.Pod](r.Reader[resourcePods], namespace, owner, selector)
}
