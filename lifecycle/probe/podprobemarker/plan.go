// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Plan is what to do about a PodProbeMarker now: data, to be looked at, compared
// and applied. The same Snapshot gives the same Plan. What nodes probe for the marker is for package nodepodprobe.
type Plan struct {
	// Finalizers are those that the marker should have; nil if they stand. It is empty if the last is to go.
	Finalizers *[]string
	// Status is the status to write, or nil when the present one stands.
	Status *v1alpha1.PodProbeMarkerStatus
	// Waiting says what a marker that is being deleted waits for: one wait, of the whole marker, since it was deleted. It is empty otherwise.
	Waiting []rollout.Wait
	// Nodes are the nodes that still have probes of it, sorted, while it is being deleted.
	Nodes []string
	// Problems say why it selects no pods; empty if it may.
	Problems []rollout.Problem
	// LeftOut says of probes that no node runs why, by their names; empty if all are.
	LeftOut []string
	// Held lists what holds the marker up. What has for a minute is told by the condition HeldUp. (PPM-2.7)
	Held []rollout.Wait
	// NoContainer says in words for which probes pods have no container of the name, sorted as the probes; empty if all have.
	NoContainer []string
}

// NewPlan decides what to do about a PodProbeMarker: nothing for a nil Snapshot.
func NewPlan(s *Snapshot) *Plan {
	plan := &Plan{}
	switch {
	case s == nil:
	case s.Marker.DeletionTimestamp != nil:
		planEnd(s, plan)
	default:
		planFinalizer(s.Marker, plan)
		planStatus(s, plan)
	}
	return plan
}

// planFinalizer keeps the marker until its probes are gone. (PPM-2.2)
func planFinalizer(marker *v1alpha1.PodProbeMarker, plan *Plan) {
	if !slices.Contains(marker.Finalizers, v1alpha1.PodProbeMarkerFinalizer) {
		with := append(slices.Clone(marker.Finalizers), v1alpha1.PodProbeMarkerFinalizer)
		plan.Finalizers = &with
	}
}

// planStatus counts the pods, and finds the probes that are too large. (PPM-1.6, PPM-2.3)
func planStatus(s *Snapshot, plan *Plan) {
	selector, err := s.Marker.PodSelector()
	plan.Problems = rollout.ProblemsOf(err)
	_, tooLarge := s.Marker.ProbeSizes()
	for i, why := range tooLarge {
		if why != "" {
			plan.hold("probe", s.Marker.Spec.Probes[i].Name, ruleProbeTooLarge, why)
			plan.LeftOut = append(plan.LeftOut, fmt.Sprintf("probe %s: %s", s.Marker.Spec.Probes[i].Name, why))
		}
	}
	status := v1alpha1.PodProbeMarkerStatus{ObservedGeneration: s.Marker.Generation}
	var selected []*corev1.Pod
	for _, pod := range s.Pods {
		if pod.Namespace == s.Marker.Namespace && v1alpha1.CanBeProbed(pod) && selector.Matches(labels.Set(pod.Labels)) { // as Selects, which reads the selector each time
			selected = append(selected, pod)
		}
	}
	slices.SortFunc(selected, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) }) // caches have none, and what is told names the first
	status.MatchedPods = int64(len(selected))
	planContainers(s.Marker, selected, plan)
	if err != nil {
		plan.hold("", "", heldup.BadValue, "spec.selector: "+err.Error())
	}
	s.holdPods(plan, selected, tooLarge)
	s.tell(plan, status)
}

// planContainers finds the probes that are run nowhere, since no pod that is selected has a container of the name. (PPM-2.6)
func planContainers(marker *v1alpha1.PodProbeMarker, selected []*corev1.Pod, plan *Plan) {
	for i := range marker.Spec.Probes {
		probe := &marker.Spec.Probes[i]
		has := func(pod *corev1.Pod) bool { return hasContainer(pod, probe.ContainerName) }
		if len(selected) > 0 && !slices.ContainsFunc(selected, has) {
			why := fmt.Sprintf("none of %d pods has a container %s", len(selected), probe.ContainerName)
			plan.NoContainer = append(plan.NoContainer, fmt.Sprintf("probe %s: %s", probe.Name, why))
			plan.hold("probe", probe.Name, ruleNoContainer, why)
		}
	}
}

func hasContainer(pod *corev1.Pod, name string) bool {
	named := func(c corev1.Container) bool { return c.Name == name }
	return slices.ContainsFunc(pod.Spec.Containers, named) || slices.ContainsFunc(pod.Spec.InitContainers, named) ||
		slices.ContainsFunc(pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return c.Name == name })
}

// wait records what a marker that is being deleted waits for.
func (plan *Plan) wait(marker *v1alpha1.PodProbeMarker, rule rollout.Rule, message string) {
	plan.Waiting = []rollout.Wait{{Reason: &rollout.Reason{Rule: rule, Message: message}, Since: marker.DeletionTimestamp.Time}}
}

// planEnd lets a marker go once no node has probes of it. A NodePodProbe that is itself being deleted does not count. (PPM-2.4)
func planEnd(s *Snapshot, plan *Plan) {
	for _, n := range s.Probed {
		if n.DeletionTimestamp == nil {
			plan.Nodes = append(plan.Nodes, n.Name)
		}
	}
	slices.Sort(plan.Nodes)
	switch {
	case !slices.Contains(s.Marker.Finalizers, v1alpha1.PodProbeMarkerFinalizer):
		plan.wait(s.Marker, heldup.Finalizer, "it waits for finalizers of others")
		plan.hold("", "", heldup.Finalizer, "it is being deleted, and has the finalizers "+strings.Join(s.Marker.Finalizers, ", "))
	case len(plan.Nodes) > 0:
		plan.wait(s.Marker, ruleProbesLeft, "nodes still have its probes")
		for _, node := range plan.Nodes {
			plan.hold("node", node, ruleProbesLeft, "its NodePodProbe still has probes of the marker, which is being deleted")
		}
	default:
		without := slices.DeleteFunc(slices.Clone(s.Marker.Finalizers), func(f string) bool { return f == v1alpha1.PodProbeMarkerFinalizer })
		plan.Finalizers = &without
		return
	}
	s.tell(plan, *s.Marker.Status.DeepCopy())
}
