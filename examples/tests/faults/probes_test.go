// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// probing is the PodProbeMarker, of the pods of a CloneSet that surges.
const probing = "probing"

// createMarker creates the PodProbeMarker, which is older than its pods.
func (s *story) createMarker() {
	s.Helper()
	markers, nodes := lifecycles.PodProbeMarkers(s.Namespace), lifecycles.NodePodProbes()
	s.markers = testbed.Follow(s.Scene, mirror.Of(markers), invariants.Observe[*v1alpha1.PodProbeMarker](s.record))
	s.probes = testbed.Follow(s.Scene, mirror.Of(nodes), invariants.Observe[*v1alpha1.NodePodProbe](s.record))
	m := &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Name: probing}, Spec: v1alpha1.PodProbeMarkerSpec{
		Selector: ofWorkload(clonedSurge),
		Probes: []v1alpha1.PodContainerProbe{{Name: "idle", ContainerName: "main", PodConditionType: string(invariants.ProbedCondition),
			Probe: corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}},
			MarkerPolicy: []v1alpha1.ProbeMarkerPolicy{
				{State: v1alpha1.ProbeSucceeded, Labels: map[string]string{invariants.ProbedLabel: "yes"}},
				{State: v1alpha1.ProbeFailed, Labels: map[string]string{invariants.ProbedLabel: "no"}},
			}}},
	}}
	if _, err := markers.Create(s.Context(), m, metav1.CreateOptions{}); err != nil {
		s.Fatalf("create PodProbeMarker %s: %v", m.Name, err)
	}
}

// stirProbes lets other probes succeed and fail, or changes the probe.
func (s *story) stirProbes() {
	s.Helper()
	if s.random.IntN(3) > 0 {
		s.note("probes have other results: %d", s.results.Add(1))
		return
	}
	period := int32(1 + s.random.IntN(10))
	s.editMarker(fmt.Sprintf("probes every %d s", period), func(m *v1alpha1.PodProbeMarker) { m.Spec.Probes[0].Probe.PeriodSeconds = period })
}

func (s *story) editMarker(what string, change func(*v1alpha1.PodProbeMarker)) (version string) {
	s.Helper()
	return edit(s, lifecycles.PodProbeMarkers(s.Namespace), probing, what, change)
}

// state is the result of the probe of a pod at present.
func (s *story) state(pod types.UID) v1alpha1.ProbeState {
	hash := fnv.New32a()
	fmt.Fprint(hash, pod, s.results.Load())
	if hash.Sum32()%2 == 0 {
		return v1alpha1.ProbeSucceeded
	}
	return v1alpha1.ProbeFailed
}

// probe is the agent of a node: it reports the present state of all that it is asked about. If the NodePodProbe has
// changed meanwhile, or the control plane does not answer, there will be another look.
func (s *story) probe(ctx context.Context, node *v1alpha1.NodePodProbe) {
	reported, wanted := map[types.UID]v1alpha1.ProbeState{}, map[types.UID]v1alpha1.ProbeState{}
	for _, pod := range node.Status.PodProbeStatuses {
		for _, probe := range pod.ProbeStates {
			reported[pod.UID] = probe.State
		}
	}
	statuses := []v1alpha1.PodProbeStatus{}
	for _, pod := range node.Spec.PodProbes {
		status := v1alpha1.PodProbeStatus{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
		wanted[pod.UID] = s.state(pod.UID)
		for _, probe := range pod.Probes {
			status.ProbeStates = append(status.ProbeStates, v1alpha1.ContainerProbeState{Name: probe.Name, State: wanted[pod.UID]})
		}
		statuses = append(statuses, status)
	}
	if maps.Equal(reported, wanted) {
		return
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": node.ResourceVersion}, "status": map[string]any{"podProbeStatuses": statuses}})
	if err != nil {
		panic(err) // what is marshalled are structs of the API
	}
	ctx, cancel := context.WithTimeout(ctx, userPatience)
	defer cancel()
	if stored, err := lifecycles.NodePodProbes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err == nil {
		s.observed(stored)
	}
}

// markerUnsettled: every pod has the present result of its probe.
func (s *story) markerUnsettled(m *v1alpha1.PodProbeMarker) string {
	pods := s.active(clonedSurge)
	for _, pod := range pods {
		label, condition := map[v1alpha1.ProbeState]string{v1alpha1.ProbeSucceeded: "yes", v1alpha1.ProbeFailed: "no"}[s.state(pod.UID)], podstate.Condition(pod, invariants.ProbedCondition)
		if pod.Labels[invariants.ProbedLabel] != label || (condition.Status == corev1.ConditionTrue) != (label == "yes") || condition.Status == "" {
			return fmt.Sprintf("pod %s, label %q, condition %+v, the result is %q", pod.Name, pod.Labels[invariants.ProbedLabel], condition, label)
		}
	}
	asked := 0
	for _, node := range s.probes.All() {
		asked += len(node.Spec.PodProbes)
		for _, pod := range node.Spec.PodProbes {
			if probe := pod.Probes[0].Probe; probe.PeriodSeconds != m.Spec.Probes[0].Probe.PeriodSeconds {
				return fmt.Sprintf("pod %s is probed every %d s", pod.Name, probe.PeriodSeconds)
			}
		}
		if len(node.Status.PodProbeStatuses) != len(node.Spec.PodProbes) {
			return fmt.Sprintf("node %s is asked about %d pods, and reports of %d", node.Name, len(node.Spec.PodProbes), len(node.Status.PodProbeStatuses))
		}
	}
	if asked != len(pods) || int(m.Status.MatchedPods) != len(pods) || m.Status.ObservedGeneration != m.Generation {
		return fmt.Sprintf("generation %d, %d pods, %d asked about, status %+v", m.Generation, len(pods), asked, m.Status)
	}
	return ""
}

// touchMarker is touch for the PodProbeMarker: the order of policies means nothing.
func (s *story) touchMarker() {
	s.Helper()
	version := s.editMarker("touched", func(m *v1alpha1.PodProbeMarker) { slices.Reverse(m.Spec.Probes[0].MarkerPolicy) })
	s.Await("the watch shows that "+probing+" is touched", func() string { return s.markers.Behind(version) })
}
