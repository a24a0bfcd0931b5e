// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	"github.com/podwright/podwright/inplace"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// stuck tells whether the pod of a place has to be updated and never can be, since InPlaceOnly forbids to recreate it. Only a
// user can end that, by a change of the pod or the spec. Such a pod takes no place from another.
func (p *planner) stuck(s slot) bool {
	if !p.Workload.InPlace.Only || !mustUpdate(s) {
		return false
	}
	update, _ := p.inPlace(s.pod)
	return update == nil
}

// inPlace returns the in-place update of a pod, nil if there is none, and what
// keeps it from beginning on this pod. Unlike those of a CloneSet, of which a pod in an
// unknown state only waits, the pods of a StatefulSet wait for one another. (IP-1)
func (p *planner) inPlace(pod *pod) (*inplace.Update, error) {
	update, obstacle := p.InPlace(&pod.View, p.plan.Revisions.Update)
	if update != nil || obstacle != nil {
		if unknown := unknownState(pod); unknown != nil {
			return nil, unknown
		}
	}
	return update, obstacle
}

// unknownState reports a lifecycle state that no update can begin from.
func unknownState(pod *pod) error {
	switch state := pod.State; state {
	case "", lifecyclev1alpha1.StatePreparingNormal, lifecyclev1alpha1.StateNormal, lifecyclev1alpha1.StatePreparingUpdate,
		lifecyclev1alpha1.StateUpdating, lifecyclev1alpha1.StateUpdated, lifecyclev1alpha1.StatePreparingDelete:
		return nil
	default:
		return fmt.Errorf("label %s has the unknown value %q; remove the label to let the pod be updated", lifecyclev1alpha1.StateLabel, state)
	}
}
