// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// CanBeProbed tells whether PodProbeMarkers can select a pod: it is active, on a node, and its init containers have ended. (PPM-2.1)
func CanBeProbed(pod *corev1.Pod) bool {
	return podstate.Active(pod) && pod.Spec.NodeName != "" &&
		slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodInitialized && c.Status == corev1.ConditionTrue
		})
}

// PodSelector returns the selector of a marker. One that admission would refuse, empty or not, selects nothing; the error says
// what is wrong with it. (PPM-2.1)
func (m *PodProbeMarker) PodSelector() (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(m.Spec.Selector)
	if err != nil || selector.Empty() {
		return labels.Nothing(), err
	}
	return selector, nil
}

// Selects tells whether a marker has a pod probed. (PPM-2.1)
func (m *PodProbeMarker) Selects(pod *corev1.Pod) bool {
	if m.Namespace != pod.Namespace || m.DeletionTimestamp != nil || !CanBeProbed(pod) {
		return false
	}
	selector, _ := m.PodSelector()
	return selector.Matches(labels.Set(pod.Labels))
}

// Keeps tells whether a marker whose probes a pod has goes on to have it probed, though it selects it no more. Then nothing differs from its
// selector but labels that have values of its own policies, or that these have taken away. (PPM-3.2)
func (m *PodProbeMarker) Keeps(pod *corev1.Pod) bool {
	if m.Namespace != pod.Namespace || m.DeletionTimestamp != nil || !CanBeProbed(pod) {
		return false
	}
	selector, _ := m.PodSelector()
	requirements, ok := selector.Requirements()
	if !ok {
		return false
	}
	written := m.writtenLabels()
	for _, r := range requirements {
		value, found := pod.Labels[r.Key()]
		if !r.Matches(labels.Set(pod.Labels)) && (written[r.Key()] == nil || found && !slices.Contains(written[r.Key()], value)) {
			return false
		}
	}
	return true
}

// writtenLabels are the labels that the policies of a marker write, with their values.
func (m *PodProbeMarker) writtenLabels() map[string][]string {
	written := map[string][]string{}
	for i := range m.Spec.Probes {
		for _, policy := range m.Spec.Probes[i].MarkerPolicy {
			for key, value := range policy.Labels {
				written[key] = append(written[key], value)
			}
		}
	}
	return written
}

// Markers lists the PodProbeMarkers whose probes a NodePodProbe has, each once, in the order in which they stand there. That a
// marker of the name exists is not looked at.
func (n *NodePodProbe) Markers() (markers []types.NamespacedName) {
	seen := map[types.NamespacedName]bool{}
	for i := range n.Spec.PodProbes {
		pod := &n.Spec.PodProbes[i]
		for j := range pod.Probes {
			name, _, ok := SplitProbeName(pod.Probes[j].Name)
			key := types.NamespacedName{Namespace: pod.Namespace, Name: name}
			if ok && !seen[key] {
				seen[key] = true
				markers = append(markers, key)
			}
		}
	}
	return markers
}

// TakenCondition tells whether a type is that of a pod condition which the kubelet, another controller of Kubernetes or podwright
// writes: no probe writes it. (PPM-1.5, PPM-3.4)
func TakenCondition(conditionType string) bool {
	switch corev1.PodConditionType(conditionType) {
	case corev1.DisruptionTarget, corev1.PodReadyToStartContainers, corev1.PodResizePending, corev1.PodResizeInProgress, "SidecarTerminated":
		return true
	}
	return NoProbeCondition(conditionType)
}

// NoProbeCondition tells whether a type is that of a pod condition which Kubernetes or podwright writes: no probe may have it as its
// name. (PPM-1.3)
func NoProbeCondition(conditionType string) bool {
	switch corev1.PodConditionType(conditionType) {
	case corev1.PodScheduled, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, KruisePodReady, inplacev1alpha1.InPlaceUpdateReady:
		return true
	}
	return false
}
