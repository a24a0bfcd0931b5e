// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Delete deletes a pod as d says, whose Pod is filled in, or has its preDelete
// hook asked to prepare it. It returns false if it does neither. In
// Plan.Otherwise, a pod whose own state is to be written has that written first,
// whatever becomes of the first stage. (LC-18)
func (p *Planner) Delete(pod *View, d rollout.PodDeletion) bool {
	if pod.Otherwise = p.InOtherwise(); pod.Otherwise && pod.Patch != nil {
		return false
	}
	pod.ForUpdate = d.For == rollout.DeleteForUpdate && lifecycle.StateOf(pod.Pod) != lifecyclev1alpha1.StatePreparingDelete
	patch := pod.Patch
	if patch == nil {
		patch = p.unused()
	}
	now, held := lifecycle.BeginDelete(patch, pod.Pod, p.Workload.Hooks, p.At)
	if now && pod.ForUpdate && p.recreationBacksOff(pod) {
		pod.Deleted = true // for the steps that follow, as if it was tried and refused again
		return true
	}
	if now && pod.ForUpdate {
		p.awaitsBudget(pod)
	}
	if now {
		pod.Deleted = true
		d.Pod = pod.Pod
		p.Stage.Delete = append(p.Stage.Delete, d)
		return true
	}
	if pod.Kind = rollout.PatchPrepare; pod.Patch == nil {
		pod.Patch, p.scratch = patch, nil
	}
	pod.dropEmpty()
	p.Wait(pod.Pod, &rollout.Reason{Rule: rollout.RulePreDeleteHook, Message: held})
	return true
}

// recreationBacksOff tells whether a pod's deletion for its update has to wait, and says so: the API server has refused the last
// one. Usually the queue sees to that. But the queue forgets what failed if a reconcile asks a budget about other pods first. The
// budget denies these, and is asked again every second. (CT-3, CT-10)
func (p *Planner) recreationBacksOff(pod *View) bool {
	return len(p.Refusals.Denied) > 0 && p.Refusals.Pods[pod.UID] != nil && p.BacksOff(pod)
}

// Undelete returns a pod to service that is being prepared for its deletion. It
// returns false if the hooks do not allow that. (CS-15)
func (p *Planner) Undelete(pod *View) bool {
	pod.ForUpdate = false
	if lifecycle.CancelDelete(pod.Change(rollout.PatchCancelDelete), pod.Pod, p.Workload.Hooks, p.At) {
		return true
	}
	pod.dropEmpty()
	return false
}
