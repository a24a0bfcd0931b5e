// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	"github.com/podwright/podwright/internal/podplan"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// CS-CR7: the revision of a pod that prepares for its deletion stays, though nothing
// else is of it: the pod may be taken back.
func TestHistoryOfPodThatPreparesToLeave(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3", "type=InPlaceIfPossible", "historyLimit=0")
	w.settle()
	w.Spec("image=nginx:2", "partition=2")
	w.settle()
	between := w.set.Status.UpdateRevision
	w.set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{
		PreDelete: &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"hold": "true"}},
	}
	leaving := 0
	for i, pod := range w.Pods {
		if pod.Labels[podplan.RevisionLabel] != between {
			continue
		}
		pod = pod.DeepCopy()
		pod.Labels["hold"] = "true"
		pod.Labels[lifecyclev1alpha1.StateLabel] = string(lifecyclev1alpha1.StatePreparingDelete)
		pod.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel] = "true"
		w.Pods[i] = pod
		leaving++
	}
	w.Spec("image=nginx:3")
	w.settle()
	kept := false
	for _, r := range w.Revisions {
		kept = kept || r.Name == between
	}
	if leaving != 1 || !kept {
		t.Errorf("%d pods prepare to leave, their revision %s is kept: %v", leaving, between, kept)
	}
}
