// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. New makes
// one over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// Marker returns a PodProbeMarker, or an error for which apierrors.IsNotFound holds.
	Marker(namespace, name string) (*v1alpha1.PodProbeMarker, error)
	// Pods returns the pods of the namespace that match, in any order.
	Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error)
	// NodePodProbes returns those that have probes of a PodProbeMarker, in any order. These are of
	// pods of its namespace, and v1alpha1.SplitProbeName splits their names into its name and
	// another one.
	NodePodProbes(marker types.NamespacedName) ([]*v1alpha1.NodePodProbe, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) Marker(namespace, name string) (*v1alpha1.PodProbeMarker, error) {
	return caches.Get[*v1alpha1.PodProbeMarker](r.Reader, resourceMarkers, namespace, name)
}

func (r informerReader) Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error) {
	return caches.List[*corev1.Pod](r.Reader, caches.Pods, namespace, selector)
}

func (r informerReader) NodePodProbes(marker types.NamespacedName) ([]*v1alpha1.NodePodProbe, error) {
	return caches.NodesProbedFor(r.Reader[resourceNodePodProbes], marker)
}
