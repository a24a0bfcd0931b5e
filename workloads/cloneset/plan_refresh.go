// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
)

// planRefresh records what has become of each pod, and labels that older
// versions did not write. (CS-26)
//
// All of it about one pod goes into one patch. A pod that the scale step
// changes is left to it.
func (p *planner) planRefresh(to target) {
	for _, pod := range p.pods {
		if pod.Patch != nil || pod.Deleted || pod.Settled() && pod.labelled {
			continue
		}
		patch, readable := p.Refresh(&pod.View, p.atTarget(pod, to))
		if readable && !pod.labelled {
			patch.SetLabel(podplan.TemplateHashLabel, revision.ShortHash(pod.Labels[podplan.RevisionLabel]))
		}
		p.WriteRefresh(&pod.View, patch, rollout.PatchRefresh)
	}
}

// atTarget tells whether a pod need not be prepared for an update, or not any more. That is so if it has the revision that pods
// are updated to, or no pod is updated, or it never can be.
func (p *planner) atTarget(pod *pod, to target) bool {
	return p.plan.Diff.Update == 0 || pod.Updated != to.back || pod.prepared() && p.stuck(pod, to)
}

// stuck tells whether a pod that has to be updated never can be, unless a user changes the pod or the spec. That is so if the
// revision cannot have it, or if InPlaceOnly forbids to recreate it.
func (p *planner) stuck(pod *pod, to target) bool {
	if to.unfit != nil || !p.Workload.InPlace.Only {
		return to.unfit != nil
	}
	update, _ := p.InPlace(&pod.View, to.revision)
	return update == nil
}
