// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"regexp"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// describe says what a plan does, and writes.
func describe(plan *Plan) string {
	written, err := yaml.Marshal([]any{plan.CreatePolicy, plan.UpdatePolicy, plan.CreateBinding, plan.UpdateBinding})
	if err != nil {
		panic(err)
	}
	return plan.String() + string(written)
}

// The filter of events against the planner itself. A change of a SidecarSet, its revisions,
// its policy or its binding enqueues the SidecarSet if it changes the plan. (SPC-9)
func TestEventsThatMatter(t *testing.T) {
	base := settled(t)
	reads := mutation.Reads{}
	of := func(change func(*Snapshot)) string {
		s := *base
		change(&s)
		return describe(NewPlan(&s))
	}
	// What a spec holds counts in its generation.
	can := regexp.MustCompile(mutation.Metadata + `|^\.ObjectMeta\.OwnerReferences|^\.Status`)
	behind := base.SidecarSet.DeepCopy()
	behind.Status.ObservedGeneration = 1
	for _, set := range []*v1alpha1.SidecarSet{base.SidecarSet, behind} {
		mutation.Plan[v1alpha1.SidecarSet]{
			What: "SidecarSet", Copy: (*v1alpha1.SidecarSet).DeepCopy, Can: can,
			Of:      func(set *v1alpha1.SidecarSet) string { return of(func(s *Snapshot) { s.SidecarSet = set }) },
			Matters: mutation.Concerned("web", controller.Generation|controller.Status, setChanged),
		}.Check(t, reads, set)
	}
	mutation.Plan[admissionregistrationv1.MutatingAdmissionPolicy]{
		What: "Policy", Copy: (*admissionregistrationv1.MutatingAdmissionPolicy).DeepCopy, Can: can,
		Of: func(p *admissionregistrationv1.MutatingAdmissionPolicy) string {
			return of(func(s *Snapshot) { s.Policy = p })
		},
		Matters: mutation.Declared[admissionregistrationv1.MutatingAdmissionPolicy](policyFields),
	}.Check(t, reads, base.Policy)
	mutation.Plan[admissionregistrationv1.MutatingAdmissionPolicyBinding]{
		What: "Binding", Copy: (*admissionregistrationv1.MutatingAdmissionPolicyBinding).DeepCopy, Can: can,
		Of: func(b *admissionregistrationv1.MutatingAdmissionPolicyBinding) string {
			return of(func(s *Snapshot) { s.Binding = b })
		},
		Matters: mutation.Declared[admissionregistrationv1.MutatingAdmissionPolicyBinding](policyFields),
	}.Check(t, reads, base.Binding)
	reads.Require(t, "SidecarSet.Status.LatestRevision", "SidecarSet.Status.ObservedGeneration", "SidecarSet.ObjectMeta.Generation", "Policy.ObjectMeta.OwnerReferences[].UID")
}

// Whom revisions, policies and bindings concern.
func TestConcerns(t *testing.T) {
	of := func(name, owner string) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: "SidecarSet", Name: owner, Controller: new(true)}}}
	}
	for _, test := range []struct {
		got  []types.NamespacedName
		want string
	}{
		{setsOfName(of("sidecarset-log", "log")), "[/log]"},
		{setsOfName(&metav1.ObjectMeta{Name: "sidecarset-log"}), "[/log]"},
		{setsOfName(of("sidecarset-log", "other")), "[/other /log]"},
		{setsOfName(of("other", "long")), "[/long]"},
		{setsOfName(&metav1.ObjectMeta{Name: "other"}), "[]"},
		{setOfRevision(&metav1.ObjectMeta{Labels: map[string]string{v1alpha1.SidecarSetNameLabel: "log"}}), "[/log]"},
		{setOfRevision(&metav1.ObjectMeta{}), "[]"},
	} {
		if got := fmt.Sprint(test.got); got != test.want {
			t.Errorf("it concerns %s, want %s", got, test.want)
		}
	}
}

func BenchmarkNewPlan(b *testing.B) {
	s := settled(b)
	b.ReportAllocs()
	for b.Loop() {
		NewPlan(s)
	}
}
