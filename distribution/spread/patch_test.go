// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// WS-21.1: a subset says that its patch stops the pods of a workload that came after it, and no longer once the patch is mended.
func TestPatchApplies(t *testing.T) {
	ws, workload := spreadOf(t, "subsets: [{name: a, patch: {metadata: {labels: {app: b}}}}, {name: b}]"), deployment(3)
	if status := Compute(State{Spread: ws, Workload: workload, Now: now}).Status; status.SubsetStatuses[0].Conditions != nil {
		t.Errorf("%+v where the selector is not known", status)
	}
	workload.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	status := Compute(State{Spread: ws, Workload: workload, Now: now}).Status
	want := []v1alpha1.WorkloadSpreadSubsetCondition{{Type: "PatchApplies", Status: "False", LastTransitionTime: metav1.NewTime(now), Reason: "PatchBreaksSelector",
		Message: "no pod is created in this subset: its patch changes the label app, by which the workload selects its pods (app=web)"}}
	if diff := cmp.Diff(want, status.SubsetStatuses[0].Conditions); diff != "" || status.SubsetStatuses[1].Conditions != nil {
		t.Errorf("%+v (-want +got) %s", status, diff)
	}
	ws.Status = status
	again := Compute(State{Spread: ws, Workload: workload, Now: now.Add(1e9)}).Status
	if !Equal(&again, &status) {
		t.Errorf("the time moves: %+v", again)
	}
	ws.Spec.Subsets[0].Patch.Raw = nil
	if again := Compute(State{Spread: ws, Workload: workload, Now: now}).Status; again.SubsetStatuses[0].Conditions != nil {
		t.Errorf("%+v after the patch is gone", again)
	}
}
