// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
)

// planRefresh records what has become of each pod, and the label of its revision if
// that holds the present template under another name. (DS-CR5, DS-13)
func (p *planner) planRefresh() {
	for _, pod := range p.pods {
		if pod.terminating || pod.ended || pod.Deleted {
			continue
		}
		patch, readable := p.Refresh(&pod.View, pod.Updated || pod.PreparedUpdate() && p.unfit != nil)
		kind := rollout.PatchRefresh
		if readable && pod.relabel {
			patch.SetLabel(podplan.RevisionLabel, p.RevisionValue(p.plan.Revisions.Update.Name))
			kind = rollout.PatchIdentify
		}
		p.WriteRefresh(&pod.View, patch, kind)
	}
}
