// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. If there is
// no such object, they return an error for which apierrors.IsNotFound holds. New makes
// one over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// NodePodProbe returns the NodePodProbe of a node.
	NodePodProbe(name string) (*v1alpha1.NodePodProbe, error)
	// Node returns a node.
	Node(name string) (*corev1.Node, error)
	// PodsOn returns the pods of all namespaces that are on a node, in any order.
	PodsOn(node string) ([]*corev1.Pod, error)
	// Markers returns the PodProbeMarkers of a namespace, in any order.
	Markers(namespace string) ([]*v1alpha1.PodProbeMarker, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) NodePodProbe(name string) (*v1alpha1.NodePodProbe, error) {
	return caches.Get[*v1alpha1.NodePodProbe](r.Reader, resourceNodePodProbes, "", name)
}

func (r informerReader) Node(name string) (*corev1.Node, error) {
	return caches.Get[*corev1.Node](r.Reader, caches.Nodes, "", name)
}

func (r informerReader) PodsOn(node string) ([]*corev1.Pod, error) {
	return caches.PodsOn(r.Reader[resourcePods], node)
}

func (r informerReader) Markers(namespace string) ([]*v1alpha1.PodProbeMarker, error) {
	return caches.List[*v1alpha1.PodProbeMarker](r.Reader, resourceMarkers, namespace, labels.Everything())
}

// nodesProbedFor returns the NodePodProbes that have probes of a marker.
func (o *Options) nodesProbedFor(marker types.NamespacedName) []*v1alpha1.NodePodProbe {
	found, err := caches.NodesProbedFor(o.NodePodProbes.GetIndexer(), marker)
	if err != nil {
		return nil // the index is there since New
	}
	return found
}
