// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/availability"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/distribution"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// Each area has the definitions of its kinds, sorted by name, and no others.
func TestCRDs(t *testing.T) {
	for _, area := range []struct {
		crds func() []*unstructured.Unstructured
		add  func(*runtime.Scheme) error
	}{
		{workloads.CRDs, workloadsv1alpha1.AddToScheme},
		{lifecycle.CRDs, lifecyclev1alpha1.AddToScheme},
		{distribution.CRDs, distributionv1alpha1.AddToScheme},
		{sidecar.CRDs, sidecarv1alpha1.AddToScheme},
		{availability.CRDs, availabilityv1alpha1.AddToScheme},
	} {
		scheme, want := runtime.NewScheme(), map[string]bool{}
		if err := area.add(scheme); err != nil {
			t.Fatal(err)
		}
		for kind, of := range scheme.AllKnownTypes() {
			if _, object := of.FieldByName("ObjectMeta"); object {
				want[kind.GroupKind().String()] = true
			}
		}
		got, names := map[string]bool{}, []string{}
		for _, crd := range area.crds() {
			if kind := crd.GetAPIVersion() + " " + crd.GetKind(); kind != "apiextensions.k8s.io/v1 CustomResourceDefinition" {
				t.Errorf("%s is a %s", crd.GetName(), kind)
			}
			group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
			plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
			if crd.GetName() != plural+"."+group {
				t.Errorf("%s defines %s of %s", crd.GetName(), plural, group)
			}
			got[kind+"."+group] = true
			names = append(names, crd.GetName())
			crd.SetName("changed") // it belongs to the caller
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" || !slices.IsSorted(names) {
			t.Errorf("%v: kinds (-want +got):\n%s", names, diff)
		}
		if name := area.crds()[0].GetName(); name == "changed" {
			t.Error("a change of one caller is seen by the next")
		}
	}
}
