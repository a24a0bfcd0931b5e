// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// setHeldUp says in the status what keeps a job from its end. A pod that runs does not, however long that takes. (BJ-31)
func (p *planner) setHeldUp() {
	status := &p.status
	if status.CompletionTime == nil && p.Job.DeletionTimestamp == nil {
		p.listHeld()
	}
	status.Conditions = conditions.Tell(status.Conditions, p.plan.Held, p.HeldSince, p.Now)
}

// ruleNodeAway: nothing is heard of the node of a pod.
const ruleNodeAway rollout.Rule = "NodeAway"

// away is what a node waits for that cannot be reached.
var away = &rollout.Reason{Rule: ruleNodeAway, Message: "the node cannot be reached: whether its pod goes on is not known"}

// missing is what a node waits for that has no pod, though one is to be created.
var missing = &rollout.Reason{Rule: heldup.Missing, Message: "the pod cannot be created, events say why"}

// listHeld lists what keeps the job from its end.
func (p *planner) listHeld() {
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.state != Active || n.pod == nil || n.former {
			continue
		}
		if n.object != nil {
			if _, unreachable := nodefit.Unreachable(n.object); unreachable {
				p.plan.Held = append(p.plan.Held, rollout.Wait{Subject: rollout.Subject{Kind: "node", Name: n.name}, Reason: away})
				continue
			}
		}
		if t := heldup.OfPod(n.pod); t.Rule != "" && t.Rule != heldup.NotReady && t.Rule != heldup.ReadinessGate {
			p.plan.Held = append(p.plan.Held, rollout.Wait{Subject: rollout.Subject{Kind: "node", Name: n.name}, Pod: n.pod})
		}
	}
	for _, node := range p.creating { // one that is created is not there any more in the next plan
		p.plan.Held = append(p.plan.Held, rollout.Wait{Subject: rollout.Subject{Kind: "node", Name: node}, Reason: missing})
	}
	for i := range p.plan.Waiting { // pods that run are no reason to tell of parallelism
		reason := p.plan.Waiting[i].Reason
		if n := len(p.plan.Held); heldup.Of(reason.Rule).Scope == heldup.Whole && (n == 0 || p.plan.Held[n-1].Name != string(reason.Rule)) {
			p.plan.Held = append(p.plan.Held, rollout.Wait{Subject: rollout.Subject{Name: string(reason.Rule)}, Reason: reason})
		}
	}
}

// conditions says how HeldUp stands among the conditions of a job.
var conditions = heldup.Conditions[v1alpha1.JobCondition]{
	Read: func(c *v1alpha1.JobCondition) (string, heldup.Told) {
		return string(c.Type), heldup.Told{Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}
	},
	Make: func(t heldup.Told) v1alpha1.JobCondition {
		since := metav1.NewTime(t.Since)
		return v1alpha1.JobCondition{Type: v1alpha1.JobHeldUp, Status: corev1.ConditionTrue,
			LastProbeTime: since, LastTransitionTime: since, Reason: t.Reason, Message: t.Message}
	},
}

// sameConditions tells whether conditions need not be written: other words about what holds the job up are not worth it.
func sameConditions(before, after []v1alpha1.JobCondition) bool {
	return slices.Equal(conditions.ToCompare(before, after))
}
