// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCRDs(t *testing.T) {
	var got []string
	for _, crd := range CRDs() {
		if kind := crd.GetAPIVersion() + " " + crd.GetKind(); kind != "apiextensions.k8s.io/v1 CustomResourceDefinition" {
			t.Errorf("%s is a %s", crd.GetName(), kind)
		}
		got = append(got, crd.GetName())
	}
	if diff := cmp.Diff([]string{"clonesets.apps.kruise.io", "statefulsets.apps.kruise.io"}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestCRDsBelongToTheCaller(t *testing.T) {
	CRDs()[0].SetName("changed")
	if name := CRDs()[0].GetName(); name == "changed" {
		t.Error("a change of one caller is seen by the next")
	}
}
