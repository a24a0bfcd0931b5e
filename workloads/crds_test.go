package workloads

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCRDs(t *testing.T) {
	var got []string
	for _, crd := range CRDs() {
		if kind := crd.GetAPIVersion() + " " + crd.GetKind(); kind != "apiextensions.k8s.io/v1 CustomResourceDefinition" {
			t.Errorf("%s is a %s", crd.GetName(), kind)
		}
		got = append(got, crd.GetName())
	}
	if diff := cmp.Diff([]string{"clonesets.apps.kruise.io"}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestCRDsBelongToTheCaller(t *testing.T) {
	CRDs()[0].SetName("changed")
	if name := CRDs()[0].GetName(); name == "changed" {
		t.Error("a change of one caller is seen by the next")
	}
}

func TestReadCRDs(t *testing.T) {
	for _, test := range []struct{ name, yaml, wantError string }{
		{"an object", "apiVersion: v1\nkind: Secret\n", ""},
		{"no YAML", "a: [", "crds/x.yaml: want one YAML document"},
		{"no object", "a: b", "crds/x.yaml: want a Kubernetes object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := readCRDs(fstest.MapFS{"crds/x.yaml": {Data: []byte(test.yaml)}})
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Errorf("error %v, want %q", err, test.wantError)
				}
				return
			}
			want := []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("error %v, objects (-want +got):\n%s", err, diff)
			}
		})
	}
}
