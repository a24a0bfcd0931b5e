package crds

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAll(t *testing.T) {
	var got []string
	for _, crd := range All() {
		if kind := crd.GetAPIVersion() + " " + crd.GetKind(); kind != "apiextensions.k8s.io/v1 CustomResourceDefinition" {
			t.Errorf("%s is a %s", crd.GetName(), kind)
		}
		got = append(got, crd.GetName())
	}
	if diff := cmp.Diff([]string{"containerrecreaterequests.apps.kruise.io"}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestAllBelongToTheCaller(t *testing.T) {
	All()[0].SetName("changed")
	if name := All()[0].GetName(); name == "changed" {
		t.Error("a change of one caller is seen by the next")
	}
}
