// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// What holds a PodProbeMarker up. (PPM-2.7)
const (
	// ruleProbeTooLarge: a probe is too large to be run.
	ruleProbeTooLarge rollout.Rule = "ProbeTooLarge"
	// ruleNoContainer: no pod that is selected has the container of a probe.
	ruleNoContainer rollout.Rule = "NoSuchContainer"
	// ruleNoResult: a probe of a pod has no result.
	ruleNoResult rollout.Rule = "NoResult"
	// ruleProbesLeft: a node has probes of a marker that is being deleted.
	ruleProbesLeft rollout.Rule = "ProbesLeft"
)

// hold lists something that holds the marker up.
func (plan *Plan) hold(kind, name string, rule rollout.Rule, message string) {
	plan.Held = append(plan.Held, rollout.Wait{Subject: rollout.Subject{Kind: kind, Name: cmp.Or(name, string(rule))}, Reason: &rollout.Reason{Rule: rule, Message: message}})
}

// noReport says that the agent of a node has not reported on a probe.
func noReport(probe, node string) string {
	return fmt.Sprintf("probe %s has no result: the agent of node %s has not reported one", probe, node)
}

// noResult says what is told of a probe in the place of a result.
func noResult(probe, message string) string {
	return fmt.Sprintf("probe %s has no result: %s", probe, cmp.Or(message, "it is not known"))
}

// unknown says why a probe with a condition type has no result yet that users can read on a pod. It is empty if it has one,
// or is to have none.
func unknown(probe *v1alpha1.PodContainerProbe, pod *corev1.Pod) string {
	if probe.PodConditionType == "" || !hasContainer(pod, probe.ContainerName) {
		return ""
	}
	switch c := readiness.Condition(pod, corev1.PodConditionType(probe.PodConditionType)); {
	case c == nil:
		return noReport(probe.Name, pod.Spec.NodeName)
	case c.Status == corev1.ConditionUnknown:
		return noResult(probe.Name, c.Message)
	}
	return ""
}

// unknowns says of the probes of a marker with a condition type why they have no result on a pod.
func unknowns(marker *v1alpha1.PodProbeMarker, pod *corev1.Pod) []string {
	out := make([]string, len(marker.Spec.Probes))
	for i := range out {
		out[i] = unknown(&marker.Spec.Probes[i], pod)
	}
	return out
}

// withoutCondition tells whether a marker has a probe whose results are no condition of pods: only the NodePodProbes say whether there is one.
func withoutCondition(marker *v1alpha1.PodProbeMarker) bool {
	return slices.ContainsFunc(marker.Spec.Probes, func(p v1alpha1.PodContainerProbe) bool { return p.PodConditionType == "" })
}

// unreported is about the pods for which a node has probes of a marker. Of each such probe without a condition type it says
// why it has no result there; empty if it has one.
func unreported(node *v1alpha1.NodePodProbe, marker *v1alpha1.PodProbeMarker) map[types.UID][]string {
	said, at := map[types.UID][]string{}, map[string]int{}
	awaited := map[types.UID]map[int]bool{} // the probes that the node runs, until a state of them is read
	for i := range marker.Spec.Probes {
		if probe := &marker.Spec.Probes[i]; probe.PodConditionType == "" {
			at[v1alpha1.ProbeName(marker.Name, probe.Name)] = i
		}
	}
	for i := range node.Spec.PodProbes {
		entry := &node.Spec.PodProbes[i]
		if entry.Namespace != marker.Namespace {
			continue
		}
		texts, runs := notRun(marker, node.Name), map[int]bool{}
		for j := range entry.Probes {
			if i, is := at[entry.Probes[j].Name]; is {
				texts[i], runs[i] = noReport(marker.Spec.Probes[i].Name, node.Name), true
			}
		}
		said[entry.UID], awaited[entry.UID] = texts, runs
	}
	for i := range node.Status.PodProbeStatuses {
		of := &node.Status.PodProbeStatuses[i]
		texts, runs := said[of.UID], awaited[of.UID]
		for j := range of.ProbeStates {
			state := &of.ProbeStates[j]
			i, is := at[state.Name]
			if !is || state.State == "" || !runs[i] { // it is not run any more
				continue
			}
			runs[i], texts[i] = false, ""
			if state.State == v1alpha1.ProbeUnknown {
				texts[i] = noResult(marker.Spec.Probes[i].Name, state.Message)
			}
		}
	}
	return said
}

// notRun says of the probes of a marker without a condition type that a node does not run them.
func notRun(marker *v1alpha1.PodProbeMarker, node string) []string {
	texts := make([]string, len(marker.Spec.Probes))
	for i := range texts {
		if probe := &marker.Spec.Probes[i]; probe.PodConditionType == "" {
			texts[i] = noResult(probe.Name, fmt.Sprintf("node %s does not run it: it has no room for it, is not ready, or is virtual", node))
		}
	}
	return texts
}

// holdPods lists the pods that are selected and of which a probe has no result, though it could be run. (PPM-2.7)
func (s *Snapshot) holdPods(plan *Plan, selected []*corev1.Pod, tooLarge []string) {
	reports := map[string]map[types.UID][]string{}
	if withoutCondition(s.Marker) {
		for _, node := range s.Probed {
			if node.DeletionTimestamp == nil {
				reports[node.Name] = unreported(node, s.Marker)
			}
		}
	}
	for _, pod := range selected {
		texts := unknowns(s.Marker, pod)
		others := reports[pod.Spec.NodeName][pod.UID]
		if others == nil {
			others = notRun(s.Marker, pod.Spec.NodeName)
		}
		for i := range texts {
			why := cmp.Or(texts[i], others[i])
			if why != "" && tooLarge[i] == "" && hasContainer(pod, s.Marker.Spec.Probes[i].ContainerName) {
				plan.hold("pod", pod.Name, ruleNoResult, why)
				break
			}
		}
	}
}

// tell has the status say what holds the marker up. (PPM-2.7)
func (s *Snapshot) tell(plan *Plan, status v1alpha1.PodProbeMarkerStatus) {
	observed := &s.Marker.Status
	standing := heldup.Kubernetes.Told(observed.Conditions)
	status.Conditions = heldup.Kubernetes.Put(observed.Conditions, heldup.Tell(plan.Held, s.HeldSince, standing, s.Now))
	before, after := *observed, status
	before.Conditions, after.Conditions = heldup.Kubernetes.ToCompare(observed.Conditions, status.Conditions)
	if !equality.Semantic.DeepEqual(before, after) {
		plan.Status = &status
	}
}
