// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/revision"
)

func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func template(t testing.TB, data []byte) *corev1.PodTemplateSpec {
	t.Helper()
	out, err := revision.Template(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What 1.4 wrote is written again byte by byte, for every field of Kubernetes 1.22.
func TestDataOfKubernetes122(t *testing.T) {
	for _, name := range []string{
		"demo.json", "demo-defaults.json", "kubernetes-1.22-empty.json", "kubernetes-1.22-zero.json", "kubernetes-1.22-full.json",
	} {
		t.Run("CS-CR1, CS-CR6: "+name, func(t *testing.T) {
			want := golden(t, name)
			got, err := revision.Data(template(t, want))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(indent(t, want), indent(t, got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if string(got) != string(want) {
				t.Error("the JSON values are the same, the bytes are not")
			}
		})
	}
}

func indent(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// demo is the template of demo-defaults.json.
func demo(t testing.TB) *corev1.PodTemplateSpec {
	t.Helper()
	return template(t, golden(t, "demo-defaults.json"))
}

func TestNoTemplate(t *testing.T) {
	if _, err := revision.Data(nil); err == nil {
		t.Error("a nil template gives data")
	}
	for _, data := range []string{`[]`, `1`, `{"spec":{"template":{"spec":{"containers":7}}}}`} {
		if _, err := revision.Template([]byte(data)); err == nil {
			t.Errorf("%s was read as a template", data)
		}
	}
}
