// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/podwright/podwright/examples/tests/crds/appliers"
)

// typesOf are the schemas of all versions of a definition, as field managers read them: with lists and maps that are one value.
func typesOf(t *testing.T, crd *unstructured.Unstructured) managedfields.TypeConverter {
	t.Helper()
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		t.Fatal(err)
	}
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	models := map[string]*spec.Schema{}
	for _, item := range versions {
		version := runtime.DeepCopyJSON(item.(map[string]any))
		root, _, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
		text := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
		metadata := map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}, "labels": text, "annotations": text,
			"managedFields": map[string]any{"type": "array", "items": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}
		if err := unstructured.SetNestedMap(root, metadata, "properties", "metadata"); err != nil {
			t.Fatal(err)
		}
		root["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": "apps.kruise.io", "version": version["name"], "kind": kind}}
		data, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		model := &spec.Schema{}
		if err := json.Unmarshal(data, model); err != nil {
			t.Fatal(err)
		}
		models[version["name"].(string)] = model
	}
	types, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

// selects is a selector of a label.
func selects(label, value string) map[string]any {
	return map[string]any{"matchLabels": map[string]any{label: value}}
}

// writesNamespaces writes which namespaces are meant: a name, which v1beta1 writes as a selector, or a selector.
func writesNamespaces(version string, value any) []appliers.Write {
	name, is := value.(string)
	switch {
	case !is:
		return []appliers.Write{{Path: []string{"spec", "namespaceSelector"}, Value: value}}
	case version == appliers.V1alpha1:
		return []appliers.Write{{Path: []string{"spec", "namespace"}, Value: name}}
	}
	return []appliers.Write{{Path: []string{"spec", "namespaceSelector"}, Value: selects("kubernetes.io/metadata.name", name)}}
}

// namesBoth tells whether an object has what the rule of v1alpha1 refuses: a namespace and a selector of namespaces.
func namesBoth(version string, object map[string]any) bool {
	name, _, _ := unstructured.NestedString(object, "spec", "namespace")
	selector, _, _ := unstructured.NestedMap(object, "spec", "namespaceSelector")
	return version == appliers.V1alpha1 && name != "" && selector != nil
}

// Users apply by server-side apply in either version, in any order. No field of an applier is lost without a conflict, and a field goes
// when its applier no longer wants it. The field managers are those of the API server, and the schemas those of the CRDs. (STS-V3, DS-V3,
// SCS-V7, BJ-V3, ACJ-16, IMG-1.7)
func TestServerSideApplyInBothVersions(t *testing.T) {
	var tested []string
	for _, crd := range withV1beta1(t) {
		convert := conversionOf(crd)
		if convert == nil {
			continue
		}
		tested = append(tested, crd.GetName())
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		t.Run(kind, func(t *testing.T) {
			appliers.Kind{Name: kind, Convert: convert, Types: typesOf(t, crd), Fields: applied[crd.GetName()], Refuses: namesBoth}.Judge(t)
		})
	}
	if len(tested) != len(applied) {
		t.Errorf("tested %v, want one of each of %d kinds", slices.Sorted(slices.Values(tested)), len(applied))
	}
}
