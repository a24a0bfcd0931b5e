// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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

func TestMustReadCRDsPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for a file that is no object")
		}
	}()
	MustReadCRDs(fstest.MapFS{"crds/x.yaml": {Data: []byte("a: b")}})
}
