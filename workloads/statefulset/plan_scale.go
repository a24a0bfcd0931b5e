package statefulset

import (
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planScale brings the pods to the wanted ordinals: it takes back pods that
// prepare for a deletion which is not wanted any more, creates those that are
// missing, and deletes those that are left over. (rules 4 to 13)
func (p *planner) planScale() {
	p.planKeep()
	p.planCreate()
	p.scaleIn()
}

// planKeep takes back pods that prepare for their deletion although they shall
// stay: their ordinal is wanted again, or the update is paused or undone. Where
// the hooks do not allow it, such a pod is deleted when its hook lets go.
func (p *planner) planKeep() {
	for _, s := range p.wanted {
		pod := s.pod
		if pod == nil || !pod.own || pod.terminating || pod.ended || p.recreates(pod) ||
			lifecycle.StateOf(pod.Pod) != lifecyclev1alpha1.StatePreparingDelete {
			continue
		}
		if lifecycle.CancelDelete(pod.change(rollout.PatchKeep), pod.Pod, p.Set.Spec.Lifecycle, p.Now) {
			continue
		}
		if pod.patch.Empty() {
			pod.patch = nil
		}
		p.delete(pod, DeleteForScale)
	}
}

// scaleIn deletes the pods of ordinals that are not wanted, the highest first:
// all of them, or with OrderedReady one after the other. (rules 11 to 13)
func (p *planner) scaleIn() {
	if p.stopped != nil {
		for _, pod := range p.condemned {
			p.wait(pod.Pod, p.stopped)
		}
		return
	}
	for i, pod := range p.condemned {
		if !p.ordered {
			if !pod.terminating {
				p.delete(pod, DeleteForScale)
			}
			continue
		}
		p.stopped = p.deleteInOrder(pod)
		for _, later := range p.condemned[i+1:] {
			p.wait(later.Pod, p.stopped)
		}
		return
	}
}

// deleteInOrder deletes the highest pod that is left over, when no other pod is
// on its way. It returns what the next one waits for. (rule 11)
func (p *planner) deleteInOrder(pod *pod) *rollout.Reason {
	if pod.terminating {
		return p.order("pod %s is still terminating", pod.Name)
	}
	if first := p.firstUnavailable(); !pod.available && first != pod {
		reason := p.order("pod %s is not available", first.Name)
		p.wait(pod.Pod, reason)
		return reason
	}
	p.delete(pod, DeleteForScale)
	return p.order("pod %s is deleted first", pod.Name)
}

// firstUnavailable is the pod with the lowest ordinal among those left over
// that are not available; nil where all are.
func (p *planner) firstUnavailable() (first *pod) {
	for _, pod := range p.condemned {
		if !pod.available {
			first = pod
		}
	}
	return first
}

// delete deletes a pod, or has its hook asked to prepare it. (rule 13)
func (p *planner) delete(pod *pod, why DeletionReason) {
	now, held := lifecycle.BeginDelete(pod.change(rollout.PatchPrepare), pod.Pod, p.Set.Spec.Lifecycle, p.Now)
	if now {
		pod.deleted = true
		p.scaled = p.scaled || why == DeleteForScale
		p.plan.Delete = append(p.plan.Delete, PodDeletion{Pod: pod.Pod, Claims: pod.claims, For: why})
		return
	}
	p.scaled = p.scaled || why == DeleteForScale && !pod.patch.Empty()
	if pod.patch.Empty() {
		pod.patch = nil
	}
	p.wait(pod.Pod, &rollout.Reason{Rule: rollout.RulePreDeleteHook, Message: held})
}
