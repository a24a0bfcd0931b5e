// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// sidecarLimit is how long an update of a pod waits at most for one of its sidecars. Without a limit, a sidecar whose image
// cannot be pulled would hold up the workload. (IP-33)
const sidecarLimit = 5 * time.Minute

// sidecarFirst tells whether an update has to wait since a SidecarSet updates the pod, and
// says so. It costs nothing for a pod of which no SidecarSet has replaced an image. (IP-33)
func (p *Planner) sidecarFirst(pod *View) bool {
	text := pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]
	if text == "" || pod.Updating {
		return false
	}
	var states map[string]v1alpha1.SidecarSetInPlaceUpdateState
	var records map[string]v1alpha1.SidecarSetUpgradeRecord
	if json.Unmarshal([]byte(text), &states) != nil ||
		json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetHashAnnotation]), &records) != nil {
		return false // its end is not known
	}
	for _, set := range slices.Sorted(maps.Keys(states)) {
		age := p.At.Sub(records[set].UpdateTimestamp.Time)
		if age >= sidecarLimit || age <= -sidecarLimit { // of another clock, or of none
			continue
		}
		waiting := inplace.Replacing(pod.Pod, &inplacev1alpha1.State{
			LastContainerStatuses: states[set].LastContainerStatuses, LastContainers: states[set].LastContainers})
		if waiting == "" {
			continue
		}
		p.RequeueAfter(sidecarLimit - age)
		p.Wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleSidecarUpdating,
			Message: fmt.Sprintf("SidecarSet %s updates the pod in place: %s", set, waiting)})
		return true
	}
	return false
}

// injected tells whether a SidecarSet has injected containers into a pod, which it may
// update at the same moment.
func injected(pod *View) bool { return pod.Annotations[v1alpha1.SidecarSetHashAnnotation] != "" }
