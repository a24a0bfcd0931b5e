// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Refresh returns a patch that records what has become of a pod. It holds conditions of a new pod or of a finished update, the
// next batch of containers, and hooks that are met. The kind may add labels of its own, unless readable is false, and ends with
// WriteRefresh. If the pod is to be patched already, the returned patch is never sent: then this is to learn how far its update
// is.
//
// atTarget says that a pod need not be prepared for an update, or not any more.
func (p *Planner) Refresh(pod *View, atTarget bool) (patch *podpatch.Patch, readable bool) {
	if patch = p.unused(); pod.Patch != nil {
		patch = &podpatch.Patch{}
	}
	if pod.settled || p.awaitsBinding(pod) {
		return patch, true
	}
	progress, err := inplace.Refresh(patch, pod.Pod, p.At)
	if err != nil {
		pod.Updating, pod.Unreadable = true, true
		p.PodProblem(pod, err)
		readiness.Initial(patch, pod.Pod, p.At)
		return patch, false
	}
	if progress.GoBack != "" {
		p.relabel(progress.GoBack, patch.SetLabel)
	}
	p.serveUnresized(pod, &progress, patch)
	p.RequeueAfter(progress.RequeueAfter)
	pod.Updating = !progress.Complete && !progress.InService
	if !progress.Complete {
		p.Wait(pod.Pod, p.inPlaceReason(pod, progress, patch))
	}
	in := lifecycle.RefreshInput{AtTarget: atTarget, InPlaceComplete: !pod.Updating}
	if !lifecycle.Refresh(patch, pod.Pod, p.Workload.Hooks, in, p.At) {
		p.waitForHook(pod)
	}
	readiness.Initial(patch, pod.Pod, p.At)
	return patch, true
}

// awaitsBinding tells whether a pod is left alone until it has a node: nothing but its creation has happened to it. (LC-30)
func (p *Planner) awaitsBinding(pod *View) bool {
	return p.Workload.UntilBound && pod.Annotations[inplacev1alpha1.StateAnnotation] == "" && lifecycle.Unbound(pod.Pod, p.Workload.Hooks)
}

// WriteRefresh has a patch of Refresh written, unless it is empty or the pod is
// patched already.
func (p *Planner) WriteRefresh(pod *View, patch *podpatch.Patch, kind rollout.PatchKind) {
	if pod.Patch == nil && !patch.Empty() {
		pod.Patch, pod.Kind = patch, kind
		p.scratch = nil
	}
}

// unused is a patch that is empty, for a pod that may need none.
func (p *Planner) unused() *podpatch.Patch {
	if p.scratch == nil {
		p.scratch = &podpatch.Patch{}
	}
	return p.scratch
}

// The reasons of pods that are not available since a hook of theirs is not met.
var (
	preNormalHook = &rollout.Reason{Rule: rollout.RulePreNormalHook,
		Message: "the preNormal hook is not met: the pod does not have all of its labels and finalizers yet"}
	updatedHook = &rollout.Reason{Rule: rollout.RuleUpdatedHook,
		Message: "the pod is updated, and its inPlaceUpdate hook is not met: it does not have all of the hook's labels and finalizers again"}
)

// waitForHook says why a pod stays in a state that only its hook ends.
func (p *Planner) waitForHook(pod *View) {
	switch lifecycle.StateOf(pod.Pod) {
	case lifecyclev1alpha1.StatePreparingNormal:
		p.Wait(pod.Pod, preNormalHook)
	case lifecyclev1alpha1.StateUpdated:
		p.Wait(pod.Pod, updatedHook)
	}
}

// inPlaceReason says what an update waits for that is under way. It takes out of the patch a
// resize that cannot be requested now.
func (p *Planner) inPlaceReason(pod *View, progress inplace.Progress, patch *podpatch.Patch) *rollout.Reason {
	if held := p.holdResize(pod, patch); held != nil {
		return held
	}
	rule := rollout.RuleInPlaceUpdating
	switch {
	case inplace.InGrace(pod.Pod):
		rule = rollout.RuleGracePeriod
	case progress.Resizing == inplace.ResizeDeferred:
		rule = rollout.RuleResizeDeferred
	case progress.Resizing == inplace.ResizeInfeasible:
		rule = rollout.RuleResizeInfeasible
	}
	return &rollout.Reason{Rule: rule, Message: progress.Waiting}
}
