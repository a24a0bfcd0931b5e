// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// WS-21.1: no patch takes a pod away from its workload: not when it is admitted, and not when the pod is created.
func TestPatchesThatTakePodsAway(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}, MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}},
		{Key: "canary", Operator: metav1.LabelSelectorOpDoesNotExist},
	}}
	const selected, known = ", by which the workload selects its pods (app=web,!canary,tier in (a,b))", ", by which controllers know their pods"
	for _, test := range []struct{ name, patch, want string }{
		{"other labels", "{metadata: {labels: {zone: a}, annotations: {app: b}}, spec: {hostname: app}}", ""},
		{"no labels", "{metadata: {labels: null}}", "app, tier" + selected},
		{"the same value", "{metadata: {labels: {app: web, tier: b}}}", ""},
		{"another value", "{metadata: {labels: {app: zone-a}}}", "app" + selected},
		{"a label removed", "{metadata: {labels: {tier: null}}}", "tier" + selected},
		{"a label that must not be there", "{metadata: {labels: {canary: x}}}", "canary" + selected},
		{"all labels replaced", "{metadata: {labels: {$patch: replace, app: web, tier: a}}}", "apps.kruise.io/cloneset-instance-id, apps.kubernetes.io/pod-index, "},
		{"a revision", "{metadata: {labels: {controller-revision-hash: x}}}", "controller-revision-hash" + known},
		{"no revision", "{metadata: {labels: {pod-template-hash: null}}}", "pod-template-hash" + known},
		{"no patch of a pod", "{spec: {containers: 5}}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ws := spreadOf(t, "subsets: [{name: a, patch: "+test.patch+"}]")
			got := ""
			for _, err := range ValidatePatches(ws, selector) {
				got += err.Error()
			}
			want := test.want
			if want != "" {
				want = "spec.subsets[0].patch: Forbidden: changes the label " + want
			}
			if !strings.HasPrefix(got, want) || (want == "") != (got == "") {
				t.Errorf("%q, want %q", got, want)
			}

			pod, workload := unnamed(), deployment(3)
			workload.Selector = selector
			for _, key := range identity {
				pod.Labels[key] = "1"
			}
			pod.Labels["app"], pod.Labels["tier"] = "web", "b"
			_, err := Inject(Input{Pod: pod, Spread: ws, Workload: workload, Now: now})
			if refused := err != nil && strings.Contains(err.Error(), "its patch changes the label"); refused != (test.want != "") {
				t.Errorf("the new pod: %v", err)
			}
		})
	}
}

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
