// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
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
	p.status.Conditions = heldUp.Tell(p.status.Conditions, p.plan.Held, p.HeldSince, p.Now)
}

// heldUp says how HeldUp stands among the conditions of a job.
var heldUp = heldup.Conditions[v1alpha1.EphemeralJobCondition]{
	Read: func(c *v1alpha1.EphemeralJobCondition) (string, heldup.Told) {
		return string(c.Type), heldup.Told{Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}
	},
	Make: func(t heldup.Told) v1alpha1.EphemeralJobCondition {
		since := metav1.NewTime(t.Since)
		return v1alpha1.EphemeralJobCondition{Type: v1alpha1.EphemeralJobHeldUp, Status: corev1.ConditionTrue,
			LastProbeTime: since, LastTransitionTime: since, Reason: t.Reason, Message: t.Message}
	},
}

// listHeld lists what keeps the job from its end. What conditions about failures name is not among it.
func (p *planner) listHeld() {
	for _, w := range p.stuck {
		p.plan.Held = append(p.plan.Held, rollout.Wait{Subject: rollout.Subject{Kind: "pod", Name: w.Pod.Name}, Reason: w.Reason})
	}
	if p.Job.Spec.Paused {
		p.plan.Held = append(p.plan.Held, rollout.Wait{Subject: rollout.Subject{Name: string(rollout.RulePaused)}, Reason: paused})
	}
}
