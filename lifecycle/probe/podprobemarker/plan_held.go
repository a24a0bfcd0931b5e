// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// What holds a PodProbeMarker up. (PPM-2.7)
const (
	// RuleProbeTooLarge: a probe is too large to be run.
	RuleProbeTooLarge rollout.Rule = "ProbeTooLarge"
	// RuleNoContainer: no pod that is selected has the container of a probe.
	RuleNoContainer rollout.Rule = "NoSuchContainer"
	// RuleNoResult: a probe of a pod has no result.
	RuleNoResult rollout.Rule = "NoResult"
	// RuleProbesLeft: a node has probes of a marker that is being deleted.
	RuleProbesLeft rollout.Rule = "ProbesLeft"
)

// hold lists something that holds the marker up.
func (plan *Plan) hold(kind, name string, rule rollout.Rule, message string) {
	plan.Held = append(plan.Held, rollout.Hold{HoldKey: rollout.HoldKey{Kind: kind, Name: cmp.Or(name, string(rule))}, Reason: &rollout.Reason{Rule: rule, Message: message}})
}

// unknown says why a probe of a pod has no result yet that users can read; empty if it has one, or is to have none.
func unknown(probe *v1alpha1.PodContainerProbe, pod *corev1.Pod) string {
	if probe.PodConditionType == "" || !hasContainer(pod, probe.ContainerName) {
		return ""
	}
	switch c := readiness.Condition(pod, corev1.PodConditionType(probe.PodConditionType)); {
	case c == nil:
		return fmt.Sprintf("probe %s has no result: the agent of node %s has not reported one", probe.Name, pod.Spec.NodeName)
	case c.Status == corev1.ConditionUnknown:
		return fmt.Sprintf("probe %s has no result: %s", probe.Name, cmp.Or(c.Message, "it is not known"))
	}
	return ""
}

// firstUnknown is unknown of the first probe that has no result.
func firstUnknown(marker *v1alpha1.PodProbeMarker, pod *corev1.Pod) string {
	for i := range marker.Spec.Probes {
		if why := unknown(&marker.Spec.Probes[i], pod); why != "" {
			return why
		}
	}
	return ""
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
