// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// nodePodProbeChanged enqueues the node when a NodePodProbe asks for something else, or a probe has come to another
// state or says something else. When a probe was run last changes no plan. (PPM-3.6)
func nodePodProbeChanged(before, after *v1alpha1.NodePodProbe, enqueue controller.Enqueue) {
	switch {
	case after == nil:
		enqueue(types.NamespacedName{Name: before.Name})
	case before == nil || before.UID != after.UID || before.Generation != after.Generation ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) || !maps.Equal(states(before), states(after)):
		enqueue(types.NamespacedName{Name: after.Name})
	}
}

// stateName names a state in a NodePodProbe.
type stateName struct {
	pod   types.UID
	probe string
}

// said is a state with its message.
type said struct {
	state   v1alpha1.ProbeState
	message string
}

// states returns what the agent says about all probes.
func states(n *v1alpha1.NodePodProbe) map[stateName]said {
	out := map[stateName]said{}
	for i := range n.Status.PodProbeStatuses {
		pod := &n.Status.PodProbeStatuses[i]
		for j := range pod.ProbeStates {
			out[stateName{pod.UID, pod.ProbeStates[j].Name}] = said{pod.ProbeStates[j].State, pod.ProbeStates[j].Message}
		}
	}
	return out
}

// markerChanged enqueues the nodes with pods that a marker selects, before the event or after it, and those that have
// probes of it. (PPM-3.6)
func (o *Options) markerChanged(before, after *v1alpha1.PodProbeMarker, enqueue controller.Enqueue) {
	nodes := map[string]bool{}
	for _, m := range []*v1alpha1.PodProbeMarker{before, after} {
		if m == nil {
			continue
		}
		probed, _ := caches.NodesProbedFor(o.Reader, resourceNodePodProbes, cache.MetaObjectToName(m).AsNamespacedName())
		for _, n := range probed {
			nodes[n.Name] = true
		}
		selector, err := m.PodSelector()
		if err != nil || m.DeletionTimestamp != nil {
			continue
		}
		pods, _ := caches.List[*corev1.Pod](o.Reader, resourcePods, m.Namespace, selector) // indexed since New
		for _, pod := range append(pods, o.keptServerless(m)...) {
			if pod.Spec.NodeName != "" {
				nodes[pod.Spec.NodeName] = true
			}
		}
	}
	for node := range nodes {
		enqueue(types.NamespacedName{Name: node})
	}
}

// podChanged enqueues the node of a pod, if a plan may differ for it. (PPM-3.6)
func (o *Options) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	pod := after
	if pod == nil {
		pod = before
	}
	markers, _ := caches.All[*v1alpha1.PodProbeMarker](o.Reader, resourceMarkers, pod.Namespace)
	for _, pod := range []*corev1.Pod{before, after} {
		if pod != nil && pod.Spec.NodeName != "" && (matters(before, after, markers) || o.leaves(before, after)) {
			enqueue(types.NamespacedName{Name: pod.Spec.NodeName})
		}
	}
}

// matters tells whether an event of a pod may change what markers want of it, or what they have written.
func matters(before, after *corev1.Pod, markers []*v1alpha1.PodProbeMarker) bool {
	wanted := func(pod *corev1.Pod) bool {
		return pod != nil && slices.ContainsFunc(markers, func(m *v1alpha1.PodProbeMarker) bool { return m.Selects(pod) || m.Keeps(pod) })
	}
	switch was, is := wanted(before), wanted(after); {
	case !was && !is:
		return false
	case before == nil || after == nil || was != is || before.Status.PodIP != after.Status.PodIP || before.UID != after.UID || before.Spec.NodeName != after.Spec.NodeName || v1alpha1.CanBeProbed(before) != v1alpha1.CanBeProbed(after):
		return true
	}
	return !maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) || conditionsDiffer(before, after, markers)
}

// conditionsDiffer tells whether a condition differs that a probe writes.
func conditionsDiffer(before, after *corev1.Pod, markers []*v1alpha1.PodProbeMarker) bool {
	for _, m := range markers {
		for i := range m.Spec.Probes {
			t := corev1.PodConditionType(m.Spec.Probes[i].PodConditionType)
			b, a := readiness.Condition(before, t), readiness.Condition(after, t)
			if (b == nil) != (a == nil) || b != nil && (b.Status != a.Status || b.Message != a.Message) {
				return true
			}
		}
	}
	return false
}

// leaves tells whether a pod is no longer to be probed, for which its node may have probes, also such that no marker has
// given.
func (o *Options) leaves(before, after *corev1.Pod) bool {
	if before == nil || !podstate.Active(before) || after != nil && podstate.Active(after) && after.UID == before.UID {
		return false
	}
	found, exists, err := o.NodePodProbes.GetIndexer().GetByKey(before.Spec.NodeName)
	if err != nil || !exists {
		return false
	}
	n, ok := found.(*v1alpha1.NodePodProbe)
	return ok && slices.ContainsFunc(n.Spec.PodProbes, func(p v1alpha1.PodProbe) bool { return p.UID == before.UID })
}
