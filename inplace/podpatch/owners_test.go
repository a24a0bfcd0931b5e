// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
)

func TestOwners(t *testing.T) {
	const (
		add    = `{"apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet","name":"web","uid":"o3","controller":true}`
		remove = `{"$patch":"delete","uid":"o1"}`
		aFalse = `{"type":"A","status":"False","reason":null,"message":null,"lastTransitionTime":"2024-05-01T12:00:00Z"}`
	)
	owner := metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: "o3", Controller: new(true)}
	for _, tt := range []struct {
		name  string
		patch podpatch.Patch
		edit  func(*podpatch.Patch)
		want  []string
		after []types.UID // the owners after the patch
	}{
		{"an owner is added to the others", podpatch.Patch{AddOwner: &owner}, nil,
			[]string{`: {"metadata":{"ownerReferences":[` + add + `]}}`}, []types.UID{"o3", "o1", "o2"}},
		{"one that only owns becomes the controller", podpatch.Patch{AddOwner: &metav1.OwnerReference{UID: "o2", Name: "b", Controller: new(true)}}, nil,
			[]string{`: {"metadata":{"ownerReferences":[{"apiVersion":"","kind":"","name":"b","uid":"o2","controller":true}]}}`}, []types.UID{"o1", "o2"}},
		{"one that owns already writes nothing, whatever else it says", podpatch.Patch{AddOwner: &metav1.OwnerReference{UID: "o2", Name: "renamed"}}, nil,
			nil, []types.UID{"o1", "o2"}},
		{"one added and one removed are one write", podpatch.Patch{AddOwner: &owner, RemoveOwner: "o1"}, nil,
			[]string{`: {"metadata":{"ownerReferences":[` + remove + `,` + add + `]}}`}, []types.UID{"o3", "o2"}},
		{"one added, where the one to remove is none", podpatch.Patch{AddOwner: &owner, RemoveOwner: "o4"}, nil,
			[]string{`: {"metadata":{"ownerReferences":[` + add + `]}}`}, []types.UID{"o3", "o1", "o2"}},
		{"it goes to the pod, and takes a label along", podpatch.Patch{AddOwner: &owner}, func(p *podpatch.Patch) {
			p.SetCondition(condition("A", "False", "", ""))
			p.SetLabel("rev", "b")
		}, []string{
			`status: {"metadata":{},"status":{"conditions":[` + aFalse + `]}}`,
			`: {"metadata":{"labels":{"rev":"b"},"ownerReferences":[` + add + `]}}`,
		}, []types.UID{"o3", "o1", "o2"}},
		{"one that stands leaves the label to the status", podpatch.Patch{AddOwner: &metav1.OwnerReference{UID: "o1"}}, func(p *podpatch.Patch) {
			p.SetCondition(condition("A", "False", "", ""))
			p.SetLabel("rev", "b")
		}, []string{`status: {"metadata":{"labels":{"rev":"b"}},"status":{"conditions":[` + aFalse + `]}}`}, []types.UID{"o1", "o2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, pod := tt.patch, testPod()
			if tt.edit != nil {
				tt.edit(&p)
			}
			if p.Empty() {
				t.Error("the patch counts as empty")
			}
			writes, err := p.Writes(pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, show(t, writes)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if p.Changes(pod) != (len(tt.want) > 0) {
				t.Errorf("Changes is %v with %d writes", p.Changes(pod), len(tt.want))
			}
			after, err := p.Apply(pod)
			if err != nil {
				t.Fatal(err)
			}
			var owners []types.UID
			for _, o := range after.OwnerReferences {
				owners = append(owners, o.UID)
			}
			if diff := cmp.Diff(tt.after, owners); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
			again(t, &p, pod)
		})
	}
}

func TestEmpty(t *testing.T) {
	if p := (podpatch.Patch{IfUnchanged: true}); !p.Empty() {
		t.Error("a patch that asks for nothing is not empty")
	}
	for name, p := range map[string]podpatch.Patch{
		"an owner to remove": {RemoveOwner: "o"}, "an owner to add": {AddOwner: &metav1.OwnerReference{}},
		"metadata": {Metadata: []byte("{}")}, "finalizers": {AddFinalizers: []string{"f"}},
		"an image": {Images: map[string]string{"main": "nginx"}}, "a label to remove": {Labels: map[string]*string{"a": nil}},
	} {
		if p.Empty() {
			t.Errorf("a patch of %s is empty", name)
		}
	}
}
