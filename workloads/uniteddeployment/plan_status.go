// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planStatus computes the status, and what of the history is not needed any more. (UD-12)
func (p *planner) planStatus() {
	status := p.Set.Status.DeepCopy()
	p.plan.Status = status
	status.ObservedGeneration = p.Set.Generation
	p.setProblems(status)
	p.setHeldUp(status)
	if p.match == nil || p.plan.Revisions.Update == nil {
		return
	}
	status.Selector = p.match.String()
	if p.labelsAll() { // reserved pods are not for autoscalers to count
		status.Selector += "," + v1alpha1.ReservedPodLabel + "=false"
	}
	status.LabelSelector = status.Selector
	p.count(status)
	if len(p.plan.Subsets) == 0 && len(p.plan.Problems) > 0 {
		return
	}
	status.SubsetReplicas = map[string]int32{}
	status.UpdateStatus = &v1alpha1.UpdateStatus{UpdatedRevision: p.plan.Revisions.Update.Name, CurrentPartitions: map[string]int32{}}
	p.planSubsetStatuses(status)
	var wanted, reserved int32
	for _, subset := range p.plan.Subsets {
		status.SubsetReplicas[subset.Name], status.UpdateStatus.CurrentPartitions[subset.Name] = subset.Replicas, subset.Partition
		wanted, reserved = wanted+subset.Replicas, reserved+subset.Reserved
	}
	if status.CurrentRevision == "" || status.UpdatedReadyReplicas >= max(status.Replicas, wanted)-reserved {
		status.CurrentRevision = p.plan.Revisions.Update.Name // (UD-12.3)
	}
	p.setUpdated(status)
	p.planHistory(status.CurrentRevision)
}

// setUpdated says how far the update to the present revision is. An update to another one begins anew. (UD-12.5)
func (p *planner) setUpdated(status *v1alpha1.UnitedDeploymentStatus) {
	if !p.Features.UpdatedCondition {
		return
	}
	revision := p.plan.Revisions.Update.Name
	c := v1alpha1.UnitedDeploymentCondition{Type: v1alpha1.UnitedDeploymentUpdated, Status: corev1.ConditionTrue,
		Reason: "UnitedDeploymentRevisionUpdated", Message: "updated to revision " + revision, LastTransitionTime: metav1.NewTime(p.Now)}
	if status.CurrentRevision != revision {
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, "UnitedDeploymentRevisionUpdating", "updating to revision "+revision
	}
	at := slices.IndexFunc(status.Conditions, func(was v1alpha1.UnitedDeploymentCondition) bool { return was.Type == c.Type })
	switch {
	case at < 0:
		status.Conditions = append(status.Conditions, c)
	case status.Conditions[at].Message != c.Message:
		status.Conditions[at] = c
	}
}

// count counts pods: all of them as the workloads say, and those at the present revision. (UD-12.1)
func (p *planner) count(status *v1alpha1.UnitedDeploymentStatus) {
	status.Replicas, status.ReadyReplicas, status.UpdatedReplicas, status.UpdatedReadyReplicas = 0, 0, 0, 0
	for _, c := range p.bySubset {
		status.Replicas += c.CurrentReplicas
		status.ReadyReplicas += c.ReadyReplicas
	}
	for _, pod := range p.pods() {
		if pod.Labels[v1alpha1.SubsetRevisionLabel] != p.revision || pod.DeletionTimestamp != nil {
			continue
		}
		status.UpdatedReplicas++
		if lifecycle.Ready(pod) {
			status.UpdatedReadyReplicas++
		}
	}
}

// setProblems says what is wrong with the spec. (UD-12.4)
func (p *planner) setProblems(status *v1alpha1.UnitedDeploymentStatus) {
	if len(p.plan.Problems) == 0 {
		status.Conditions = slices.DeleteFunc(status.Conditions, func(c v1alpha1.UnitedDeploymentCondition) bool { return c.Type == v1alpha1.SubsetFailure })
		return
	}
	setCondition(status, v1alpha1.UnitedDeploymentCondition{Type: v1alpha1.SubsetFailure, Status: corev1.ConditionTrue,
		Reason: reasonError, Message: p.plan.Problems[0].Err.Error(), LastTransitionTime: metav1.NewTime(p.Now)})
}

// reasonError is the reason of conditions about what went wrong.
const reasonError = "Error"

// setCondition sets a condition. One that has the status already keeps its time.
func setCondition(status *v1alpha1.UnitedDeploymentStatus, condition v1alpha1.UnitedDeploymentCondition) {
	at := slices.IndexFunc(status.Conditions, func(c v1alpha1.UnitedDeploymentCondition) bool { return c.Type == condition.Type })
	if at < 0 {
		status.Conditions = append(status.Conditions, condition)
		return
	}
	if was := &status.Conditions[at]; was.Status == condition.Status {
		condition.LastTransitionTime = was.LastTransitionTime
	}
	status.Conditions[at] = condition
}
