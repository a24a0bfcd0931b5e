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

// setHeldUp says in the status which subsets are held up: those whose workload says so, and, of kinds that never do, those whose pods are
// not ready. (UD-22)
func (p *planner) setHeldUp(status *v1alpha1.UnitedDeploymentStatus) {
	known := maps.Clone(p.HeldSince)
	for _, name := range slices.Sorted(maps.Keys(p.bySubset)) {
		c := p.bySubset[name]
		hold := rollout.Hold{HoldKey: rollout.HoldKey{Kind: "subset", Name: name}, Reason: &rollout.Reason{Rule: heldup.SubsetHeldUp}}
		switch {
		case c.heldUp != nil:
			hold.Reason.Message = fmt.Sprintf("%s %s: %s", c.Kind, c.Object.GetName(), c.heldUp.Message)
			if known == nil {
				known = map[rollout.HoldKey]time.Time{}
			}
			known[hold.HoldKey] = c.heldUp.LastTransitionTime.Time
		case (c.Kind == StatefulSet || c.Kind == Deployment) && c.ReadyReplicas < c.Replicas:
			hold.Reason.Message = fmt.Sprintf("%s %s: %d of %d pods are ready", c.Kind, c.Object.GetName(), c.ReadyReplicas, c.Replicas)
		default:
			continue
		}
		p.plan.HeldUp = append(p.plan.HeldUp, hold)
	}
	told := heldup.Tell(p.plan.HeldUp, known, toldBy(heldUpOf(status)), p.Now)
	status.Conditions = slices.DeleteFunc(status.Conditions, func(c v1alpha1.UnitedDeploymentCondition) bool { return c.Type == v1alpha1.UnitedDeploymentHeldUp })
	if told != nil {
		status.Conditions = append(status.Conditions, v1alpha1.UnitedDeploymentCondition{Type: v1alpha1.UnitedDeploymentHeldUp, Status: corev1.ConditionTrue,
			Reason: told.Reason, Message: told.Message, LastTransitionTime: metav1.NewTime(told.Since)})
	}
}

// heldUpOf is the condition HeldUp of a status, nil if there is none.
func heldUpOf(status *v1alpha1.UnitedDeploymentStatus) *v1alpha1.UnitedDeploymentCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == v1alpha1.UnitedDeploymentHeldUp {
			return &status.Conditions[i]
		}
	}
	return nil
}

func toldBy(c *v1alpha1.UnitedDeploymentCondition) *heldup.Told {
	if c == nil {
		return nil
	}
	return &heldup.Told{Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time}
}

// sameStatus tells whether two states of the status mean the same, which they do where they say in other words what holds it up.
func sameStatus(before, after *v1alpha1.UnitedDeploymentStatus) bool {
	if was, is := heldUpOf(before), heldUpOf(after); was != nil && is != nil && heldup.Same(toldBy(was), toldBy(is)) {
		after = after.DeepCopy()
		after.Conditions = slices.DeleteFunc(after.Conditions, func(c v1alpha1.UnitedDeploymentCondition) bool { return c.Type == was.Type })
		before = before.DeepCopy()
		before.Conditions = slices.DeleteFunc(before.Conditions, func(c v1alpha1.UnitedDeploymentCondition) bool { return c.Type == was.Type })
	}
	return equality.Semantic.DeepEqual(before, after)
}
