// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// setOf returns the SidecarSet web, whose status has observed its spec; the spec is YAML.
func setOf(t testing.TB, spec string) *v1alpha1.SidecarSet {
	t.Helper()
	set := patches.Object[v1alpha1.SidecarSet](t, "spec: "+spec)
	set.ObjectMeta = metav1.ObjectMeta{Name: "web", UID: "web-uid", Generation: 2}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set.Status = v1alpha1.SidecarSetStatus{ObservedGeneration: 2, LatestRevision: "web-2"}
	return set
}

// revisionOf returns the revision of a SidecarSet with a number, so many minutes after noon.
func revisionOf(t testing.TB, set *v1alpha1.SidecarSet, number int) *appsv1.ControllerRevision {
	t.Helper()
	data, err := injection.RevisionData(set)
	if err != nil {
		t.Fatal(err)
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", set.Name, number), Namespace: "kruise-system",
			CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(number) * time.Minute)),
			Labels:            map[string]string{v1alpha1.SidecarSetNameLabel: set.Name}},
		Data: runtime.RawExtension{Raw: data}, Revision: int64(number),
	}
}

const one, two = `{containers: [{name: log, image: "log:1"}]}`, `{containers: [{name: log, image: "log:2"}]}`

// settled is a snapshot in which the policy stands.
func settled(t testing.TB) *Snapshot {
	t.Helper()
	s := &Snapshot{SidecarSet: setOf(t, two), Revisions: []*appsv1.ControllerRevision{revisionOf(t, setOf(t, one), 1), revisionOf(t, setOf(t, two), 2)}}
	plan := NewPlan(s)
	s.Policy, s.Binding = plan.CreatePolicy, plan.CreateBinding
	if s.Policy == nil || s.Binding == nil {
		t.Fatalf("of a new SidecarSet: %s", plan)
	}
	return s
}

// A plan without a SidecarSet is empty, and says why. A nil revision does no harm.
func TestPlanWithoutObjects(t *testing.T) {
	for name, s := range map[string]*Snapshot{"no snapshot": nil, "no SidecarSet": {}} {
		if plan := NewPlan(s); len(plan.Problems) != 1 || plan.String() != plan.Problems[0].String() {
			t.Errorf("%s: problems %v, plan %q", name, plan.Problems, plan)
		}
	}
	s := settled(t)
	if s.Revisions = append([]*appsv1.ControllerRevision{nil}, s.Revisions...); NewPlan(s).String() != "" {
		t.Errorf("a nil revision: %s", NewPlan(s))
	}
}

// A pod that says that a SidecarSet was injected is believed if a policy injects that. (SPC-10)
func TestMatchExpressionBelieves(t *testing.T) {
	for patch, believed := range map[v1alpha1.SidecarSetPatchPolicyType]bool{
		v1alpha1.SidecarSetOverwritePatchPolicy: true, v1alpha1.SidecarSetMergePatchJSONPatchPolicy: false,
	} {
		set := setOf(t, fmt.Sprintf(`{containers: [{name: audit}], patchPodMetadata: [{annotations: {a: "{}"}, patchPolicy: %s}]}`, patch))
		if got := MatchExpression([]*v1alpha1.SidecarSet{set}); strings.Contains(got, `"web" in injected`) != believed {
			t.Errorf("with %s: %s", patch, got)
		}
		set.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{CustomVersion: new("v1")}
		if got := MatchExpression([]*v1alpha1.SidecarSet{set}); strings.Contains(got, `"web" in injected`) {
			t.Errorf("with %s of a revision: %s", patch, got)
		}
	}
}
