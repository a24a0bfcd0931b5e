// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The CRDs that the manager installs are those with defaults: a client that reads spec.replicas finds it without a
// webhook. (PF-4.1)
func TestDefinitionsHaveDefaults(t *testing.T) {
	config, err := NewConfig(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := Definitions(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range definitions {
		if crd.GetName() != "clonesets.apps.kruise.io" {
			continue
		}
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		replicas, _, _ := unstructured.NestedFieldNoCopy(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties", "replicas", "default")
		if replicas != int64(1) {
			t.Errorf("the default of replicas is %v, want 1", replicas)
		}
		return
	}
	t.Error("no CRD of CloneSets")
}
