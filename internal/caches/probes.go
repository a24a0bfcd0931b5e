// SPDX-License-Identifier: Apache-2.0

package caches

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The names of the indexes of pods by their node, and of NodePodProbes by the markers whose probes they have.
const (
	byNode   = "podwright.node"
	byMarker = "podwright.probeMarker"
)

// AddNodeIndex indexes an informer of pods by the node that they are on. It does nothing if the informer has that index
// already.
func AddNodeIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, byNode, func(obj any) ([]string, error) {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
			return []string{pod.Spec.NodeName}, nil
		}
		return nil, nil
	})
}

// PodsOn returns the pods of a node, of an informer indexed by AddNodeIndex. They are shared with the cache.
func PodsOn(indexer cache.Indexer, node string) ([]*corev1.Pod, error) {
	return byIndex[*corev1.Pod](indexer, byNode, node)
}

// AddMarkerIndex indexes an informer of NodePodProbes by the markers whose probes they have. It does nothing if the
// informer has that index already.
func AddMarkerIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, byMarker, func(obj any) (keys []string, err error) {
		if n, ok := obj.(*v1alpha1.NodePodProbe); ok {
			for _, marker := range n.Markers() {
				keys = append(keys, marker.String())
			}
		}
		return keys, nil
	})
}

// NodesProbedFor returns the NodePodProbes that have probes of a marker, of an informer indexed by AddMarkerIndex. They
// are shared with the cache.
func NodesProbedFor(indexer cache.Indexer, marker types.NamespacedName) ([]*v1alpha1.NodePodProbe, error) {
	return byIndex[*v1alpha1.NodePodProbe](indexer, byMarker, marker.String())
}
