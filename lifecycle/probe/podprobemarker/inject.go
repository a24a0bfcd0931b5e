// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// maxHandedOver is how large the probes of a pod may be in its annotation, in bytes. All annotations of a pod may have 256 KiB. (PPM-1.7)
const maxHandedOver = 64 << 10

// inject writes the probes that markers have for a new pod to its annotations, if there are any. (PPM-1.7)
func inject(pod *corev1.Pod, markers []*v1alpha1.PodProbeMarker) error {
	markers = matching(pod, markers)
	probes := handedOver(pod, markers)
	if len(probes) == 0 {
		return nil
	}
	data, err := json.Marshal(probes)
	if err != nil {
		return fmt.Errorf("write the probes of pod %s as JSON: %w", cmp.Or(pod.Name, pod.GenerateName), err)
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1alpha1.PodProbesAnnotation, string(data))
	if len(v1alpha1.MarkersOf(pod)) > 0 {
		return nil // its user has said which
	}
	var names []string
	for _, m := range markers {
		names = append(names, m.Name)
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1alpha1.PodProbeMarkersAnnotation, strings.Join(names, ","))
	return nil
}

// matching lists the markers whose probes a new pod has, by name: those that it names itself, else those that select it.
func matching(pod *corev1.Pod, markers []*v1alpha1.PodProbeMarker) (all []*v1alpha1.PodProbeMarker) {
	named := v1alpha1.MarkersOf(pod)
	for _, m := range markers {
		selector, _ := m.PodSelector() // one that cannot be read selects nothing
		matches := slices.Contains(named, m.Name) || len(named) == 0 && selector.Matches(labels.Set(pod.Labels))
		if m.DeletionTimestamp == nil && matches {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *v1alpha1.PodProbeMarker) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// handedOver lists the probes that what runs the pod is to run. Of two with the same condition type, or with the same container and
// name, the first counts.
func handedOver(pod *corev1.Pod, markers []*v1alpha1.PodProbeMarker) (probes []v1alpha1.PodContainerProbe) {
	types, names, size := map[string]bool{}, map[[2]string]bool{}, 0
	for _, m := range markers {
		sizes, tooLarge := m.ProbeSizes()
		for i := range m.Spec.Probes {
			p := &m.Spec.Probes[i]
			name := [2]string{p.ContainerName, p.Name}
			if !canBeHandedOver(p) || !runs(pod, p.ContainerName) || types[p.PodConditionType] || names[name] || tooLarge[i] != "" || size+sizes[i] > maxHandedOver {
				continue
			}
			types[p.PodConditionType], names[name], size = true, true, size+sizes[i]
			probes = append(probes, v1alpha1.PodContainerProbe{Name: p.Name, ContainerName: p.ContainerName, Probe: p.Probe, PodConditionType: p.PodConditionType})
		}
	}
	return probes
}

// canBeHandedOver tells whether what runs pods of virtual nodes may run a probe. It has to be able to tell the result, in a
// condition that is no other component's. The probe must ask the pod alone, and show no output that is to be hidden. It does
// not know hideOutput.
func canBeHandedOver(p *v1alpha1.PodContainerProbe) bool {
	return p.PodConditionType != "" && !v1alpha1.TakenCondition(p.PodConditionType) && !p.HideOutput && len(validateHandler(&p.Probe, nil)) == 0
}

// runs tells whether a pod has a container of the name that runs as long as the pod: a regular one or a native sidecar.
func runs(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name }) ||
		slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
			return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		})
}
