// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ProbesHandedOver judges what a webhook that knew the markers of a state has made of a new pod. The pod has the probes of its markers,
// and nothing else about it has changed. (PPM-1.7)
func ProbesHandedOver(s *State, before, after *corev1.Pod) []Violation {
	var v violations
	want, markers := probing{s}.handedOver(before)
	var got []v1alpha1.PodContainerProbe
	if text := after.Annotations[handedProbes]; text != "" && json.Unmarshal([]byte(text), &got) != nil {
		v.add(Spec, "the probes of pod %s cannot be read: %s", before.Name, text)
	}
	v.never(!equality.Semantic.DeepEqual(want, got), Placement,
		"pod %s gets the probes %v, and should get %v", before.Name, probeNames(got), probeNames(want))
	named := before.Annotations[handedMarkers]
	if named == "" && len(want) > 0 {
		named = strings.Join(markers, ",")
	}
	is := after.Annotations[handedMarkers]
	v.never(is != named, Placement, "pod %s names the markers %q, and should %q", before.Name, is, named)
	rest := after.DeepCopy()
	rest.Annotations = before.Annotations
	v.never(!equality.Semantic.DeepEqual(before, rest), Spec, "more of pod %s changes than its probes", before.Name)
	return v
}

// handedOver are the probes that a new pod should have, and their markers. These are the markers that the pod names, or else those that
// select it.
func (p probing) handedOver(pod *corev1.Pod) (probes []v1alpha1.PodContainerProbe, markers []string) {
	var named []string
	if text := pod.Annotations[handedMarkers]; text != "" {
		named = strings.Split(text, ",")
	}
	types, names := map[string]bool{"": true, string(corev1.PodReady): true}, map[string]bool{}
	for _, m := range p.markers() {
		if m.DeletionTimestamp != nil || !slices.Contains(named, m.Name) && (len(named) > 0 || !matches(m.Spec.Selector, pod.Labels)) {
			continue
		}
		markers = append(markers, m.Name)
		for _, probe := range m.Spec.Probes {
			name := probe.ContainerName + " " + probe.Name
			if probe.HideOutput || types[probe.PodConditionType] || names[name] || !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == probe.ContainerName }) {
				continue
			}
			types[probe.PodConditionType], names[name] = true, true
			probe.MarkerPolicy = nil
			probes = append(probes, probe)
		}
	}
	return probes, markers
}

func probeNames(probes []v1alpha1.PodContainerProbe) (names []string) {
	for i := range probes {
		names = append(names, probes[i].Name)
	}
	return names
}
