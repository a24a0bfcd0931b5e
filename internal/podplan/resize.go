// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"errors"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
)

// Reaches tells whether a pod that has the label of the update revision has, or may still
// get, what that says. Otherwise it is not updated. One that never gets its cpu and memory has to
// be recreated or, with InPlaceOnly, waits; one whose image came back is updated again. It
// costs next to nothing if neither is true. (IP-39, IP-40)
func (p *Planner) Reaches(pod *View) bool {
	if pod.calm {
		return true
	}
	if pod.retry = inplace.PutBack(pod.Pod); pod.retry != nil {
		p.retries.add(pod)
		return false
	}
	switch {
	case p.Workload.InPlace.Resize:
		pod.unresized = inplace.Unresized(pod.Pod, p.Refusals.Unsupported(pod.Pod))
	case inplace.BeingResized(pod.Pod): // since before the feature was switched off
		pod.unresized = inplace.Unresized(pod.Pod, errResizeOff)
	}
	return pod.unresized == ""
}

var errResizeOff = errors.New("its containers have still to be resized, and the controller does not resize pods: the feature is off")

// serveUnresized puts a pod back into service that its update keeps out of it for the restart of containers, although their
// resize is never requested. (IP-39)
func (p *Planner) serveUnresized(pod *View, progress *inplace.Progress, patch *podpatch.Patch) {
	if pod.unresized != "" && progress.Resizing == inplace.ResizeRequested && len(patch.Resources) > 0 {
		inplace.Serve(patch, pod.Pod, p.At)
		progress.InService = true
	}
}

// holdResize takes the request of a resize out of a patch if it is not to be sent now, and says why. It returns nil if the
// request may be sent.
func (p *Planner) holdResize(pod *View, patch *podpatch.Patch) *rollout.Reason {
	if len(patch.Resources) == 0 {
		return nil
	}
	wait, refused := p.Refusals.Until.Sub(p.At), p.Refusals.Pods[pod.UID]
	reason := &rollout.Reason{Rule: rollout.RuleRefused}
	switch {
	case !p.Workload.InPlace.Resize:
		reason.Rule, reason.Message = rollout.RuleInPlaceUpdating, errResizeOff.Error()
	case pod.unresized != "":
		reason.Rule, reason.Message = rollout.RuleResizeInfeasible, pod.unresized
	case wait > 0 && refused != nil:
		p.RequeueAfter(wait)
		reason.Message = refused.Error()
	case wait > 0:
		p.RequeueAfter(wait)
		reason.Message = "the API server has refused another update a moment ago"
	default:
		return nil
	}
	patch.Resources = nil
	return reason
}
