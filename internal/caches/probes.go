// SPDX-License-Identifier: Apache-2.0

package caches

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ByNode is the index of pods by the node that they are on.
var ByNode = podwright.Index{Name: "podwright.node", Keys: func(obj any) ([]string, error) {
	if pod, ok := obj.(*corev1.Pod); ok && pod.Spec.NodeName != "" {
		return []string{pod.Spec.NodeName}, nil
	}
	return nil, nil
}}

// PodsOn returns the pods of a node, in all namespaces, indexed ByNode. They are shared with the cache.
func PodsOn(r podwright.Reader, node string) ([]*corev1.Pod, error) {
	return byIndex[*corev1.Pod](r, Pods, metav1.NamespaceAll, ByNode, node)
}

// ByMarker is the index of NodePodProbes by the markers whose probes they have.
var ByMarker = podwright.Index{Name: "podwright.probeMarker", Keys: func(obj any) (keys []string, err error) {
	if n, ok := obj.(*v1alpha1.NodePodProbe); ok {
		for _, marker := range n.Markers() {
			keys = append(keys, marker.String())
		}
	}
	return keys, nil
}}

// NodesProbedFor returns the NodePodProbes that have probes of a marker, indexed ByMarker. They are shared with the cache.
func NodesProbedFor(r podwright.Reader, resource podwright.Resource, marker types.NamespacedName) ([]*v1alpha1.NodePodProbe, error) {
	return byIndex[*v1alpha1.NodePodProbe](r, resource, metav1.NamespaceNone, ByMarker, marker.String())
}
