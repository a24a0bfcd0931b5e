package cloneset

import (
	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planRefresh writes down what has become of each pod: conditions of a new pod
// or of a finished update, the next batch of containers, hooks that are met,
// and labels that older versions did not write. (CS-26)
//
// All of it about one pod goes into one patch. A pod that the scale step
// changes is left to it.
func (p *planner) planRefresh() {
	scratch := &podpatch.Patch{}
	for _, pod := range p.pods {
		if pod.patch != nil || pod.deleted {
			continue
		}
		if p.refresh(pod, scratch); !scratch.Empty() {
			pod.patch, pod.kind = scratch, rollout.PatchRefresh
			scratch = &podpatch.Patch{}
		}
	}
}

// refresh puts into the patch what is to be written down about a pod.
func (p *planner) refresh(pod *pod, patch *podpatch.Patch) {
	progress, err := inplace.Refresh(patch, pod.Pod, p.Now)
	if err != nil {
		pod.unreadable = true
		p.podProblem(pod, err)
		readiness.Initial(patch, pod.Pod, p.Now)
		return
	}
	p.requeueAfter(progress.RequeueAfter)
	if !progress.Complete {
		p.wait(pod.Pod, inPlaceReason(pod, progress))
	}
	in := lifecycle.RefreshInput{AtTarget: p.atTarget(pod), InPlaceComplete: progress.Complete}
	if !lifecycle.Refresh(patch, pod.Pod, p.Set.Spec.Lifecycle, in, p.Now) {
		p.waitForHook(pod)
	}
	readiness.Initial(patch, pod.Pod, p.Now)
	if label := pod.Labels[revisionLabel]; label != "" && pod.Labels[templateHashLabel] == "" {
		patch.SetLabel(templateHashLabel, revision.ShortHash(label))
	}
}

// atTarget tells whether a pod need not be prepared for an update, or not any
// more: it has the revision that pods move to, or none of them moves.
func (p *planner) atTarget(pod *pod) bool {
	moves := p.plan.Moves.Update
	return moves == 0 || pod.updated == (moves > 0)
}

// The reasons of pods that are not available since a hook of theirs is not met.
var (
	preNormalHook = &rollout.Reason{Rule: rollout.RulePreNormalHook,
		Message: "the preNormal hook is not met: the pod does not have all of its labels and finalizers yet"}
	updatedHook = &rollout.Reason{Rule: rollout.RuleUpdatedHook,
		Message: "the pod is updated, and its inPlaceUpdate hook is not met: it does not have all of the hook's labels and finalizers again"}
)

// waitForHook says why a pod stays in a state that only its hook ends.
func (p *planner) waitForHook(pod *pod) {
	switch lifecycle.StateOf(pod.Pod) {
	case lifecyclev1alpha1.StatePreparingNormal:
		p.wait(pod.Pod, preNormalHook)
	case lifecyclev1alpha1.StateUpdated:
		p.wait(pod.Pod, updatedHook)
	}
}

func inPlaceReason(pod *pod, progress inplace.Progress) *rollout.Reason {
	rule := rollout.RuleInPlaceUpdating
	if inplace.InGrace(pod.Pod) {
		rule = rollout.RuleGracePeriod
	}
	return &rollout.Reason{Rule: rule, Message: progress.Waiting}
}
