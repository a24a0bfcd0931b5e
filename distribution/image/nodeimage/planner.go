// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan

	spec v1alpha1.NodeImageSpec // as it will be
	pods []*corev1.Pod          // those that have images pulled, and nothing else
}

// planCreation makes the NodeImage of a node that has been ready for a while. (IMG-2.1)
func (p *planner) planCreation() {
	if p.Node == nil {
		return
	}
	ready := condition(p.Node, corev1.NodeReady)
	switch {
	case p.Node.DeletionTimestamp != nil:
		p.wait(ruleNodeLeaving, p.Node.DeletionTimestamp.Time, "the node is being deleted")
	case virtual(p.Node):
		p.wait(ruleVirtualNode, p.Node.CreationTimestamp.Time, "the node is a virtual kubelet, which pulls no images")
	case ready == nil || ready.Status != corev1.ConditionTrue:
		since, _ := unreadySince(p.Node)
		p.wait(ruleNodeNotReady, since, "the node is not ready")
	default:
		due := ready.LastTransitionTime.Add(p.Timing.creationDelay())
		if due.After(p.Now) {
			reason := p.wait(ruleCreationDelay, ready.LastTransitionTime.Time, fmt.Sprintf("the node has been ready for less than %v", p.Timing.creationDelay()))
			reason.Limit, reason.Observed = int32(p.Timing.creationDelay()/time.Second), int32(p.Now.Sub(ready.LastTransitionTime.Time)/time.Second)
			p.requeueAt(due)
			return
		}
		p.plan.Create = &v1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: p.Node.Name, Labels: maps.Clone(p.Node.Labels)}}
	}
}

// wait records why the node has no NodeImage, and since when; zero if nothing tells.
func (p *planner) wait(rule rollout.Rule, since time.Time, message string) *rollout.Reason {
	reason := &rollout.Reason{Rule: rule, Message: message}
	p.plan.Waiting = []rollout.Wait{{Subject: rollout.Subject{Kind: "node", Name: p.Node.Name}, Reason: reason, Since: since}}
	return reason
}

// abandoned tells whether a NodeImage has no node any more. (IMG-2.1)
func (p *planner) abandoned() bool {
	if _, fake := p.NodeImage.Labels[v1alpha1.FakeNodeImageLabel]; fake {
		return false
	}
	return p.Node == nil || p.Node.DeletionTimestamp != nil
}

// planLabels keeps the labels those of the node. (IMG-2.1)
func (p *planner) planLabels() {
	labels := p.NodeImage.Labels
	if p.Node != nil && !virtual(p.Node) {
		labels = p.Node.Labels
	}
	if p.plan.Change == nil && maps.Equal(labels, p.NodeImage.Labels) {
		return
	}
	p.plan.Change = &Change{Labels: labels, Spec: p.spec}
}

// virtual tells whether a node is none on which an agent can run.
func virtual(node *corev1.Node) bool { return node.Labels["type"] == "virtual-kubelet" }

// condition returns a condition of a node, nil if it has none of that type.
// It is shared with the node.
func condition(node *corev1.Node, conditionType corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == conditionType {
			return &node.Status.Conditions[i]
		}
	}
	return nil
}

// unreadySince is the time since when a node has not been ready, zero if there is no
// node. It is false if the node is ready, or that is not known.
func unreadySince(node *corev1.Node) (time.Time, bool) {
	if node == nil {
		return time.Time{}, true
	}
	ready := condition(node, corev1.NodeReady)
	if ready == nil || ready.Status == corev1.ConditionTrue {
		return time.Time{}, false
	}
	return ready.LastTransitionTime.Time, true
}
