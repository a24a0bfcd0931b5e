package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planRefresh writes down what has become of each pod: conditions of a new pod
// or of a finished update, the next batch of containers, hooks that are met,
// and the label with its name. (STS-7, STS-10, STS-16)
//
// All of it about one pod goes into one patch. A pod that the scale step
// changes is left to it.
func (p *planner) planRefresh() {
	scratch := &podpatch.Patch{}
	for _, pod := range p.pods {
		if pod.terminating || pod.ended || pod.deleted {
			continue
		}
		patch := scratch
		if pod.patch != nil { // only to learn how far its update is
			patch = &podpatch.Patch{}
		}
		kind := p.refresh(pod, patch)
		if pod.patch == nil && !patch.Empty() {
			pod.patch, pod.kind = patch, kind
			scratch = &podpatch.Patch{}
		}
	}
}

// refresh puts into the patch what is to be written down about a pod.
func (p *planner) refresh(pod *pod, patch *podpatch.Patch) rollout.PatchKind {
	kind := rollout.PatchRefresh
	progress, err := inplace.Refresh(patch, pod.Pod, p.Now)
	if err != nil {
		p.podProblem(pod, err)
		pod.inPlaceDone, pod.unreadable = false, true
		readiness.Initial(patch, pod.Pod, p.Now)
		return kind
	}
	p.requeueAfter(progress.RequeueAfter)
	if pod.inPlaceDone = progress.Complete; !progress.Complete {
		p.wait(pod.Pod, inPlaceReason(pod, progress))
	}
	in := lifecycle.RefreshInput{AtTarget: pod.updated || pod.held || p.rolling == nil || pod.preparedUpdate() && p.stuck(slot{pod: pod}), InPlaceComplete: progress.Complete}
	if !lifecycle.Refresh(patch, pod.Pod, p.hooks(), in, p.Now) && lifecycle.StateOf(pod.Pod) == lifecyclev1alpha1.StateUpdated {
		p.wait(pod.Pod, updatedHook)
	}
	readiness.Initial(patch, pod.Pod, p.Now)
	if pod.Labels[appsv1.StatefulSetPodNameLabel] != pod.Name {
		patch.SetLabel(appsv1.StatefulSetPodNameLabel, pod.Name)
		kind = rollout.PatchIdentify
	}
	return kind
}

// hooks are those that a StatefulSet knows: not preNormal. (LC-18)
func (p *planner) hooks() *lifecyclev1alpha1.Lifecycle {
	hooks := p.Set.Spec.Lifecycle
	if hooks == nil || hooks.PreNormal == nil {
		return hooks
	}
	return &lifecyclev1alpha1.Lifecycle{PreDelete: hooks.PreDelete, InPlaceUpdate: hooks.InPlaceUpdate}
}

// updatedHook is the reason of pods that are not available since a hook of
// theirs is not met.
var updatedHook = &rollout.Reason{Rule: rollout.RuleUpdatedHook,
	Message: "the pod is updated, and its inPlaceUpdate hook is not met: it does not have all of the hook's labels and finalizers again"}

func inPlaceReason(pod *pod, progress inplace.Progress) *rollout.Reason {
	rule := rollout.RuleInPlaceUpdating
	if inplace.InGrace(pod.Pod) {
		rule = rollout.RuleGracePeriod
	}
	return &rollout.Reason{Rule: rule, Message: progress.Waiting}
}
