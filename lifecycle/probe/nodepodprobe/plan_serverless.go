// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// virtual tells whether a node is one that a virtual kubelet stands for.
func virtual(node *corev1.Node) bool { return node != nil && node.Labels["type"] == "virtual-kubelet" }

// handedOver returns the markers whose probes pods have got in their annotations, by the UIDs of the pods.
func handedOver(pods []*corev1.Pod) map[types.UID]map[string]bool {
	markers := map[types.UID]map[string]bool{}
	for _, pod := range pods {
		for _, name := range v1alpha1.MarkersOf(pod) {
			if markers[pod.UID] == nil {
				markers[pod.UID] = map[string]bool{}
			}
			markers[pod.UID][name] = true
		}
	}
	return markers
}

// keptServerless lists the pods that a marker keeps though it does not select them any more. There is no NodePodProbe that says so. (PPM-3.9)
func (o *Options) keptServerless(m *v1alpha1.PodProbeMarker) (kept []*corev1.Pod) {
	if !o.Features.Serverless {
		return nil
	}
	pods, _ := caches.List[*corev1.Pod](o.Reader, resourcePods, m.Namespace, labels.Everything()) // indexed since New
	for _, pod := range pods {
		if slices.Contains(v1alpha1.MarkersOf(pod), m.Name) && m.Keeps(pod) {
			kept = append(kept, pod)
		}
	}
	return kept
}

// planServerless has labels and annotations of the pods of a virtual node follow the conditions that tell results. (PPM-3.9)
func (p *planner) planServerless() {
	if !p.serverless {
		return
	}
	for _, pod := range p.pods {
		all := p.wanted[pod.UID]
		if status := p.told(pod, all); len(status.ProbeStates) > 0 {
			p.planPod(pod, all, status)
		}
	}
}

// told is what the conditions of a pod say of the probes that it should have. Of two probes with the same type the first counts. (PPM-3.4)
func (p *planner) told(pod *corev1.Pod, all []*wanted) *v1alpha1.PodProbeStatus {
	status, first := &v1alpha1.PodProbeStatus{}, map[string]string{}
	for _, w := range all {
		t := w.of.PodConditionType
		c := readiness.Condition(pod, corev1.PodConditionType(t))
		switch {
		case t == "" || c == nil:
		case v1alpha1.TakenCondition(t):
			p.ignore(pod, w.probe.Name, "the condition %s is written by Kubernetes or podwright", t)
		case first[t] != "":
			p.ignore(pod, w.probe.Name, "the condition %s is that of the probe %s", t, first[t])
		default:
			first[t] = w.probe.Name
			status.ProbeStates = append(status.ProbeStates, v1alpha1.ContainerProbeState{Name: w.probe.Name, State: stateIn(c.Status)})
		}
	}
	return status
}

// stateIn is the state that a condition tells.
func stateIn(status corev1.ConditionStatus) v1alpha1.ProbeState {
	switch status {
	case corev1.ConditionTrue:
		return v1alpha1.ProbeSucceeded
	case corev1.ConditionFalse:
		return v1alpha1.ProbeFailed
	}
	return v1alpha1.ProbeUnknown
}
