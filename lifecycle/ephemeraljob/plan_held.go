// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// setHeldUp says in the status what keeps a job from its end. Containers that run do not, however long that takes. (EJ-26)
func (p *planner) setHeldUp() {
	if p.status.CompletionTime == nil {
		p.listHeld()
	}
	before := heldUpOf(p.status.Conditions)
	told := heldup.Tell(p.plan.Held, p.HeldSince, toldBy(before), p.Now)
	if before != nil {
		p.status.Conditions = slices.DeleteFunc(p.status.Conditions, func(c v1alpha1.EphemeralJobCondition) bool { return c.Type == v1alpha1.EphemeralJobHeldUp })
	}
	if told == nil {
		return
	}
	since := metav1.NewTime(told.Since)
	condition := v1alpha1.EphemeralJobCondition{Type: v1alpha1.EphemeralJobHeldUp, Status: corev1.ConditionTrue,
		LastProbeTime: since, LastTransitionTime: since, Reason: told.Reason, Message: told.Message}
	if standing := heldUpOf(p.Job.Status.Conditions); standing != nil && heldup.Same(toldBy(standing), told) {
		condition = *standing
	}
	p.status.Conditions = append(p.status.Conditions, condition)
}

// listHeld lists what keeps the job from its end. What conditions about failures name is not among it.
func (p *planner) listHeld() {
	for _, w := range p.stuck {
		p.plan.Held = append(p.plan.Held, rollout.Hold{HoldKey: rollout.HoldKey{Kind: "pod", Name: w.Pod.Name}, Reason: w.Reason})
	}
	if p.Job.Spec.Paused {
		p.plan.Held = append(p.plan.Held, rollout.Hold{HoldKey: rollout.HoldKey{Name: string(rollout.RulePaused)}, Reason: paused})
	}
}

// heldUpOf is the condition HeldUp, nil if there is none.
func heldUpOf(conditions []v1alpha1.EphemeralJobCondition) *v1alpha1.EphemeralJobCondition {
	i := slices.IndexFunc(conditions, func(c v1alpha1.EphemeralJobCondition) bool { return c.Type == v1alpha1.EphemeralJobHeldUp })
	if i < 0 {
		return nil
	}
	return &conditions[i]
}

func toldBy(c *v1alpha1.EphemeralJobCondition) *heldup.Told {
	if c == nil {
		return nil
	}
	return &heldup.Told{Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}
}
