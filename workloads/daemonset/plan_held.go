// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/validation"
)

var missing = &rollout.Reason{Rule: heldup.Missing, Message: "no pod is there"}

// planHeld lists what keeps the DaemonSet from its spec. That is a node without an available pod, or with a second pod that is
// not available, and what other pods wait for. (DS-23)
func (p *planner) planHeld() {
	for _, n := range p.nodes {
		if n.runs && !n.deferred {
			p.holdNode(n)
		}
	}
	p.HoldWaits()
	p.HoldBad(validation.Lifecycle(p.Set.Spec.Lifecycle, field.NewPath("spec", "lifecycle"), "preDelete"))
}

func (p *planner) holdNode(n *nodePods) {
	surging := p.limits.maxSurge > 0 && n.old != nil
	switch {
	case n.away && (n.shown() == nil || !n.shown().Available):
		p.Hold("node", n.name, nil, away)
	case surging && n.blockedBy() != nil:
		p.Hold("node", n.name, nil, n.blockedBy())
	case len(n.ended) > 0:
		p.Hold("node", n.name, n.ended[0].Pod, nil)
	case surging && n.fresh != nil && !n.fresh.Available:
		p.Hold("node", n.name, n.fresh.Pod, nil)
	case n.has(func(pod *pod) bool { return pod.Available }):
	case len(n.pods) > 0:
		p.Hold("node", n.name, n.pods[0].Pod, nil)
	case n.leaving && n.last != nil:
		p.Hold("node", n.name, n.last.Pod, nil)
	default:
		p.Hold("node", n.name, nil, missing)
	}
}

// blockedBy is why the second pod of a surging node can never run: the first one has a host port that it wants. Nil: it has not. (DS-24)
func (n *nodePods) blockedBy() *rollout.Reason {
	second := n.fresh
	if second == nil {
		i := slices.IndexFunc(n.ended, func(pod *pod) bool { return pod.Updated })
		if i < 0 {
			return nil
		}
		second = n.ended[i]
	}
	if second.Available || !second.ended && second.Spec.NodeName != "" {
		return nil
	}
	taken := hostPorts(n.old.Pod)
	for _, port := range hostPorts(second.Pod) {
		if slices.Contains(taken, port) {
			return &rollout.Reason{Rule: heldup.HostPort, Message: fmt.Sprintf("pod %s has host port %d, which pod %s wants beside it", n.old.Name, port, second.Name)}
		}
	}
	return nil
}

// hostPorts lists the host ports that a pod has.
func hostPorts(pod *corev1.Pod) (ports []int32) {
	for i := range pod.Spec.Containers {
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.HostPort != 0 {
				ports = append(ports, port.HostPort)
			}
		}
	}
	return ports
}
