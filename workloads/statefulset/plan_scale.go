// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"

	"github.com/podwright/podwright/inplace/rollout"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planScale brings the pods to the wanted ordinals. It returns pods to service that prepare for a deletion which is not wanted
// any more. It creates pods that are missing, and deletes those that are left over. (STS-4 to STS-13)
func (p *planner) planScale() {
	p.planKeep()
	p.planCreate()
	p.scaleIn()
}

// scaleIn deletes the pods of ordinals that are not wanted, the highest first:
// all of them, or with OrderedReady one after the other. (STS-11 to STS-13)
func (p *planner) scaleIn() {
	rest := slices.DeleteFunc(slices.Clone(p.condemned), func(pod *pod) bool { return pod.terminating })
	if p.ordered && p.stopped == nil && len(p.condemned) > 0 {
		rest = p.deleteInOrder(rest)
	}
	for _, pod := range rest {
		if p.ordered {
			p.Wait(pod.Pod, p.stopped)
		} else {
			p.delete(pod, rollout.DeleteForScale)
		}
	}
}

// deleteInOrder deletes the first of the pods that are left over, unless it has
// to wait, and returns those that wait. All wanted pods are available by
// then, or only their deletion, which is prepared, keeps them from that. (STS-11, STS-36)
func (p *planner) deleteInOrder(pods []*pod) (waiting []*pod) {
	if p.stopped = p.haltsScaleIn(); p.stopped != nil {
		return pods
	}
	pods[0].unserving = !pods[0].Available
	p.delete(pods[0], rollout.DeleteForScale)
	p.stopped, p.inOrder = p.order("pod %s is deleted first", pods[0].Name), true
	return pods[1:]
}

// haltsScaleIn says why no pod that is left over goes now. One may be terminating. Or the highest one is not available and is not
// the first of all pods that are not ready. Hooks are not looked at, as in STS-8. Pods that have ended do not wait for one
// another, as none of them is ever ready again. One whose deletion was begun when it was its turn has waited for that already,
// and may be out of service for no other reason. (STS-11)
func (p *planner) haltsScaleIn() *rollout.Reason {
	for _, pod := range p.condemned {
		if pod.terminating {
			return p.order("pod %s is still terminating", pod.Name)
		}
	}
	highest := p.condemned[0]
	if highest.Available || highest.State == lifecyclev1alpha1.StatePreparingDelete {
		return nil
	}
	first := func(pod *pod) bool { return !pod.ready() && (pod == highest || !pod.ended || !highest.ended) }
	switch i := slices.IndexFunc(p.pods, first); {
	case i < 0:
		return p.order("pod %s, which is to be deleted, is not available yet", highest.Name)
	case p.pods[i] != highest:
		return p.order("pod %s, which is to be deleted, is not available, and %s before it is not ready", highest.Name, p.pods[i].Name)
	}
	return nil
}

// delete deletes a pod, or has its hook asked to prepare it. (STS-13)
func (p *planner) delete(pod *pod, why rollout.DeletionReason) {
	p.Delete(&pod.View, rollout.PodDeletion{For: why, Unchanged: pod.unserving, ChangeClaims: pod.claims})
	p.scaled = p.scaled || why == rollout.DeleteForScale && (pod.Deleted || pod.Patch != nil)
}
