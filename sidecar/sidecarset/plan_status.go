// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// statuses says which fields of a SidecarSet hold what all statuses have.
var statuses = podplan.Status[v1alpha1.SidecarSetStatus, v1alpha1.SidecarSetCondition, v1alpha1.SidecarSetConditionType]{
	DeepCopy: (*v1alpha1.SidecarSetStatus).DeepCopy,
	Fields: func(s *v1alpha1.SidecarSetStatus) podplan.StatusFields[v1alpha1.SidecarSetCondition] {
		return podplan.StatusFields[v1alpha1.SidecarSetCondition]{ObservedGeneration: &s.ObservedGeneration,
			CollisionCount: &s.CollisionCount, Conditions: &s.Conditions}
	},
	Condition: func(c *v1alpha1.SidecarSetCondition) podplan.Condition[v1alpha1.SidecarSetConditionType] {
		return podplan.Condition[v1alpha1.SidecarSetConditionType]{Type: &c.Type, Status: &c.Status, LastTransitionTime: &c.LastTransitionTime, Reason: &c.Reason, Message: &c.Message}
	},
	Negative: []v1alpha1.SidecarSetConditionType{v1alpha1.SidecarSetInjected},
	Kept:     []v1alpha1.SidecarSetConditionType{v1alpha1.SidecarSetHeldUp},
}

// count counts the pods as they were observed. (SCS-21)
func (p *planner) count() {
	r := &p.plan.Rollout
	r.Matched = int32(len(p.pods))
	for _, pod := range p.pods {
		if pod.Available {
			r.Ready++
		}
		if pod.Updated {
			r.Updated++
			if pod.Available {
				r.UpdatedReady++
			}
		}
	}
}

// inconsistent is what a pod lacks that is ready, and out of service all the same.
var inconsistent = &rollout.Reason{Rule: rollout.RuleInPlaceUpdating, Message: "its containers do not run what the update wants yet"}

// planHeld lists what keeps the SidecarSet from its spec. Pods that are out of service because of updates hold the places of others. It
// lists these pods, and what the others wait for. (SCS-27)
func (p *planner) planHeld() {
	for _, pod := range p.pods {
		switch {
		case !p.outOfService(pod):
		case readiness.Ready(pod.Pod) && pod.starting != "":
			p.Hold("pod", pod.Namespace+"/"+pod.Name, pod.Pod, &rollout.Reason{Rule: rollout.RuleInPlaceUpdating, Message: pod.starting})
		case readiness.Ready(pod.Pod):
			p.Hold("pod", pod.Namespace+"/"+pod.Name, pod.Pod, inconsistent)
		default:
			p.HoldPod(pod.Pod)
		}
	}
	p.HoldWaits()
	if p.NamespaceMissing {
		p.Hold("", string(heldup.BadValue), nil, &rollout.Reason{Rule: heldup.BadValue, Message: fmt.Sprintf("spec.namespace is %s, and there is no such namespace", p.Set.Spec.Namespace)})
	}
}

// planStatus computes the status from the pods as they were observed, and tells of
// conditions that begin. (SCS-21, SCS-22)
func (p *planner) planStatus() {
	p.plan.Status = statuses.Plan(&p.Planner, &p.Set.Status, func(s *v1alpha1.SidecarSetStatus) {
		r := &p.plan.Rollout
		s.MatchedPods, s.UpdatedPods, s.ReadyPods, s.UpdatedReadyPods = r.Matched, r.Updated, r.Ready, r.UpdatedReady
		s.LatestRevision = p.plan.Revisions.Update.Name
		s.Selection = p.selection.DeepCopy()
	})
	if p.plan.Status == nil {
		return
	}
	for _, event := range []struct{ condition, reason string }{{notUpgradable, eventNotUpgradable}, {notInjected, EventNotInjected}} {
		if c := conditionOf(p.plan.Status, event.condition); c != nil && conditionOf(&p.Set.Status, event.condition) == nil {
			p.plan.Events = append(p.plan.Events, Event{Type: corev1.EventTypeWarning, Reason: event.reason, Message: c.Message})
		}
	}
}

// conditionOf is the condition of a type, nil if there is none.
func conditionOf(s *v1alpha1.SidecarSetStatus, of string) *v1alpha1.SidecarSetCondition {
	for i := range s.Conditions {
		if string(s.Conditions[i].Type) == of {
			return &s.Conditions[i]
		}
	}
	return nil
}
