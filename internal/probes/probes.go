// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Probed tells whether a pod can be probed: it is active, on a node, and its init containers have ended. (PPM-2.1)
func Probed(pod *corev1.Pod) bool {
	return podstate.Active(pod) && pod.Spec.NodeName != "" &&
		slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodInitialized && c.Status == corev1.ConditionTrue
		})
}

// Selector returns the selector of a marker. One that admission would refuse, empty or not, selects nothing; the error says
// what is wrong with it. (PPM-2.1)
func Selector(marker *v1alpha1.PodProbeMarker) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(marker.Spec.Selector)
	if err != nil || selector.Empty() {
		return labels.Nothing(), err
	}
	return selector, nil
}

// Selects tells whether a marker has a pod probed. (PPM-2.1)
func Selects(marker *v1alpha1.PodProbeMarker, pod *corev1.Pod) bool {
	if marker.Namespace != pod.Namespace || marker.DeletionTimestamp != nil || !Probed(pod) {
		return false
	}
	selector, _ := Selector(marker)
	return selector.Matches(labels.Set(pod.Labels))
}

// Markers lists the markers whose probes a NodePodProbe has, each once, in the order in which they stand there. That a
// marker of the name exists is not looked at.
func Markers(n *v1alpha1.NodePodProbe) (markers []types.NamespacedName) {
	seen := map[types.NamespacedName]bool{}
	for i := range n.Spec.PodProbes {
		pod := &n.Spec.PodProbes[i]
		for j := range pod.Probes {
			name, _, ok := v1alpha1.SplitProbeName(pod.Probes[j].Name)
			key := types.NamespacedName{Namespace: pod.Namespace, Name: name}
			if ok && !seen[key] {
				seen[key] = true
				markers = append(markers, key)
			}
		}
	}
	return markers
}

// Native are the types of pod conditions that Kubernetes or podwright writes. No probe may have such a name, and none
// writes such a condition. (PPM-1.3, PPM-3.4)
var Native = []string{
	string(corev1.PodScheduled), string(corev1.PodInitialized), string(corev1.PodReady), string(corev1.ContainersReady),
	string(v1alpha1.KruisePodReady), string(inplacev1alpha1.InPlaceUpdateReady),
}
