// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// setOf returns the SidecarSet log, whose status has observed its spec; the spec is YAML.
func setOf(t testing.TB, spec string) *v1alpha1.SidecarSet {
	t.Helper()
	set := &v1alpha1.SidecarSet{}
	if err := yaml.UnmarshalStrict([]byte("spec: "+spec), set); err != nil {
		t.Fatalf("%v\n%s", err, spec)
	}
	set.ObjectMeta = metav1.ObjectMeta{Name: "log", UID: "log-uid", Generation: 2}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set.Status = v1alpha1.SidecarSetStatus{ObservedGeneration: 2, LatestRevision: "log-2"}
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
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("log-", number), Namespace: "kruise-system", CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(number) * time.Minute)),
			Labels: map[string]string{v1alpha1.SidecarSetNameLabel: set.Name}},
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

func TestPlan(t *testing.T) {
	for _, test := range []struct {
		name   string // and rules
		change func(*Snapshot)
		want   string
	}{
		{"settled (SPC-9)", func(*Snapshot) {}, ""},
		{"nothing there (SPC-1, SPC-4)", func(s *Snapshot) { s.Policy, s.Binding = nil, nil }, "create policy sidecarset-log\ncreate binding sidecarset-log"},
		{"no binding (SPC-1)", func(s *Snapshot) { s.Binding = nil }, "create binding sidecarset-log"},
		{"another revision (SPC-3)", func(s *Snapshot) {
			s.SidecarSet.Spec.Containers[0].Image, s.SidecarSet.Status.LatestRevision = "log:3", "log-3"
			s.Revisions = append(s.Revisions, revisionOf(t, s.SidecarSet, 3))
		}, "update policy sidecarset-log"},
		{"a spec that is not observed (SPC-2)", func(s *Snapshot) {
			s.SidecarSet.Spec.Containers[0].Image, s.SidecarSet.Generation = "log:3", 3
		}, "wait: the revision of generation 3 is not in the status yet, which has observed 2"},
		{"no status (SPC-2)", func(s *Snapshot) {
			s.SidecarSet.Status = v1alpha1.SidecarSetStatus{}
			s.Policy, s.Binding = nil, nil
		}, "wait: the revision of generation 2 is not in the status yet, which has observed 0"},
		{"a revision that no cache shows (SPC-2)", func(s *Snapshot) { s.Revisions = s.Revisions[:1] }, "wait: revision log-2 is not there yet"},
		{"a revision by name (SPC-2)", func(s *Snapshot) {
			s.SidecarSet.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{RevisionName: new("log-1")}
			s.SidecarSet.Generation = 3
		}, "update policy sidecarset-log"},
		{"a revision that is not there (SPC-6)", func(s *Snapshot) {
			s.SidecarSet.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{RevisionName: new("log-9")}
		}, `problem: spec.injectionStrategy.revision: there is no revision "log-9" of the SidecarSet; correct revisionName`},
		{"paused (SPC-5)", func(s *Snapshot) { s.SidecarSet.Spec.InjectionStrategy.Paused, s.SidecarSet.Generation = true, 3 },
			"delete binding sidecarset-log\ndelete policy sidecarset-log\nno policy: spec.injectionStrategy.paused is true"},
		{"no selector (SPC-5)", func(s *Snapshot) { s.SidecarSet.Spec.Selector, s.Binding = nil, nil }, "delete policy sidecarset-log\nno policy: spec.selector is empty"},
		{"not to be compiled (SPC-5)", func(s *Snapshot) {
			s.SidecarSet.Spec.PatchPodMetadata = []v1alpha1.SidecarSetPatchPodMetadata{{Annotations: map[string]string{"a": "{}"}, PatchPolicy: v1alpha1.SidecarSetMergePatchJSONPatchPolicy}}
		}, "delete binding sidecarset-log\ndelete policy sidecarset-log\n" +
			"problem: SidecarSet log: spec.patchPodMetadata[0]: a policy cannot merge JSON; use Retain or Overwrite, or have a webhook inject"},
		{"another failure policy", func(s *Snapshot) { s.FailurePolicy = admissionregistrationv1.Ignore }, "update policy sidecarset-log"},
		{"a policy that a user changed (SPC-7)", func(s *Snapshot) {
			s.Policy = s.Policy.DeepCopy()
			s.Policy.Spec.Variables = nil
		}, "update policy sidecarset-log"},
		{"a binding that a user changed (SPC-7)", func(s *Snapshot) {
			s.Binding = s.Binding.DeepCopy()
			s.Binding.Spec.MatchResources = &admissionregistrationv1.MatchResources{}
		}, "update binding sidecarset-log"},
		{"somebody else's policy (SPC-7)", func(s *Snapshot) {
			s.Policy, s.Binding = &admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "sidecarset-log"}}, nil
		},
			"problem: MutatingAdmissionPolicy sidecarset-log is there and SidecarSet log does not control it: delete it, and it is created anew"},
		{"the binding of an earlier SidecarSet of the name (SPC-7)", func(s *Snapshot) { s.SidecarSet.UID, s.Policy = "new", nil },
			"problem: MutatingAdmissionPolicyBinding sidecarset-log is there and SidecarSet log does not control it: delete it, and it is created anew"},
		{"deleted (SPC-1)", func(s *Snapshot) { s.SidecarSet.DeletionTimestamp, s.Policy = &metav1.Time{Time: noon}, nil }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := settled(t)
			test.change(s)
			plan := NewPlan(s)
			if got := plan.String(); got != test.want {
				t.Errorf("the plan is:\n%s\nwant:\n%s", got, test.want)
			}
			// What is planned is settled.
			for _, p := range []*admissionregistrationv1.MutatingAdmissionPolicy{plan.CreatePolicy, plan.UpdatePolicy} {
				if p != nil {
					s.Policy = p
				}
			}
			for _, b := range []*admissionregistrationv1.MutatingAdmissionPolicyBinding{plan.CreateBinding, plan.UpdateBinding} {
				if b != nil {
					s.Binding = b
				}
			}
			if plan.DeletePolicy != nil {
				s.Policy = nil
			}
			if plan.DeleteBinding != nil {
				s.Binding = nil
			}
			again := NewPlan(s).String()
			if strings.Contains(again, "create ") || strings.Contains(again, "update ") || strings.HasPrefix(again, "delete ") {
				t.Errorf("and then:\n%s", again)
			}
		})
	}
}

// The policy of a revision is that of its data, with its name and its time. (SPC-2)
func TestPlanRevision(t *testing.T) {
	s := settled(t)
	s.SidecarSet.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{RevisionName: new("log-1")}
	updated := NewPlan(s).UpdatePolicy
	text, err := yaml.Marshal(updated.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if name := updated.Annotations[policy.RevisionAnnotation]; name != "log-1" || !strings.Contains(string(text), "log:1") || !strings.Contains(string(text), "2026-01-01T12:01:00Z") {
		t.Errorf("the policy is of revision %s:\n%s", name, text)
	}
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
		set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "audit"}}
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		set.Spec.Containers = []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "audit", Image: "audit:1"}}}
		set.Spec.PatchPodMetadata = []v1alpha1.SidecarSetPatchPodMetadata{{Annotations: map[string]string{"a": "{}"}, PatchPolicy: patch}}
		if got := MatchExpression([]*v1alpha1.SidecarSet{set}); strings.Contains(got, `"audit" in injected`) != believed {
			t.Errorf("with %s: %s", patch, got)
		}
		set.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{CustomVersion: new("v1")}
		if got := MatchExpression([]*v1alpha1.SidecarSet{set}); strings.Contains(got, `"audit" in injected`) {
			t.Errorf("with %s of a revision: %s", patch, got)
		}
	}
}
