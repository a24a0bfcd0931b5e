// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// setHeldUp says in the status which subsets are held up. Their workload says so. Of kinds that never do, their pods are not
// ready. (UD-22)
func (p *planner) setHeldUp(status *v1alpha1.UnitedDeploymentStatus) {
	known := maps.Clone(p.HeldSince)
	for _, name := range slices.Sorted(maps.Keys(p.bySubset)) {
		c := p.bySubset[name]
		hold := rollout.Wait{Subject: rollout.Subject{Kind: "subset", Name: name}, Reason: &rollout.Reason{Rule: heldup.SubsetHeldUp}}
		switch {
		case c.heldUp != nil:
			hold.Reason.Message = fmt.Sprintf("%s %s: %s", c.Kind, c.Object.GetName(), c.heldUp.Message)
			if known == nil {
				known = map[rollout.Subject]time.Time{}
			}
			known[hold.Subject] = c.heldUp.Since
		case (c.Kind == StatefulSet || c.Kind == Deployment) && c.ReadyReplicas < c.Replicas:
			hold.Reason.Message = fmt.Sprintf("%s %s: %d of %d pods are ready", c.Kind, c.Object.GetName(), c.ReadyReplicas, c.Replicas)
		default:
			continue
		}
		p.plan.Held = append(p.plan.Held, hold)
	}
	status.Conditions = conditions.Tell(status.Conditions, p.plan.Held, known, p.Now)
}

// conditions says how HeldUp stands among the conditions of a UnitedDeployment.
var conditions = heldup.Conditions[v1alpha1.UnitedDeploymentCondition]{
	Read: func(c *v1alpha1.UnitedDeploymentCondition) (string, heldup.Told) {
		return string(c.Type), heldup.Told{Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}
	},
	Make: func(t heldup.Told) v1alpha1.UnitedDeploymentCondition {
		return v1alpha1.UnitedDeploymentCondition{Type: v1alpha1.UnitedDeploymentHeldUp, Status: corev1.ConditionTrue,
			Reason: t.Reason, Message: t.Message, LastTransitionTime: metav1.NewTime(t.Since)}
	},
}

// sameStatus tells whether two states of the status mean the same, which they do if they say in other words what holds it up.
func sameStatus(before, after *v1alpha1.UnitedDeploymentStatus) bool {
	was, is := *before, *after
	was.Conditions, is.Conditions = conditions.ToCompare(before.Conditions, after.Conditions)
	return equality.Semantic.DeepEqual(&was, &is)
}
