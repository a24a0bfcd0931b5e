// SPDX-License-Identifier: Apache-2.0

package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/podwright/podwright/examples/kit/permissions"
)

// kustomize builds a folder.
func kustomize(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text)
}

func parse(t *testing.T, manifest []byte) []*unstructured.Unstructured {
	t.Helper()
	objects, err := permissions.Objects(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// byName returns objects as JSON does, whatever types their numbers have.
func byName(t *testing.T, objects []*unstructured.Unstructured) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, object := range objects {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%s %s/%s", object.GroupVersionKind(), object.GetNamespace(), object.GetName())
		if all[name] != nil {
			t.Errorf("two objects are %s", name)
		}
		var fields any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		all[name] = fields
	}
	return all
}

// The kustomization has the objects of the Go values, without and with the agents.
func TestKustomization(t *testing.T) {
	objects := shipped(t)
	for folder, want := range map[string][]*unstructured.Unstructured{
		"kustomize":           objects.All(),
		"kustomize/manager":   slices.Concat(objects.Namespaces, objects.CRDs, objects.Manager),
		"kustomize/nodeagent": objects.NodeAgent,
	} {
		if diff := cmp.Diff(byName(t, want), byName(t, kustomize(t, folder))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", folder, diff)
		}
	}
}
