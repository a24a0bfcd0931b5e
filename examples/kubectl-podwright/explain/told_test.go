// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
)

// Every kind says in its status what holds an object up, where Places has it, or has a reason why not. (KC-22)
func TestPlaces(t *testing.T) {
	left := map[schema.GroupKind]Place{}
	for kind, place := range Places() {
		left[kind] = place
		if (place.In == "") == (place.Not == "") {
			t.Errorf("%s: %+v: want either a path or a reason why not", kind, place)
		}
	}
	for _, crd := range slices.Concat(workloads.CRDs(), distribution.CRDs(), lifecycle.CRDs(), sidecar.CRDs(), availability.CRDs()) {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		kind := schema.GroupKind{Group: group, Kind: name}
		place, known := left[kind]
		if delete(left, kind); !known {
			t.Errorf("%s is not in Places", kind)
		}
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, version := range versions {
			if place.In != "" && !has(version, place.In) {
				t.Errorf("%s: the definition has no %s", kind, place.In)
			}
		}
	}
	for kind := range elsewhere {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(Places())), func(known schema.GroupKind) bool { return known.Kind == kind }) {
			t.Errorf("%s says elsewhere what holds it up, and is no kind", kind)
		}
	}
	for kind := range left {
		t.Errorf("Places has %s, of which there is no definition", kind)
	}
}

// has tells whether the schema of a version has a path.
func has(version any, path string) bool {
	at, _, _ := unstructured.NestedMap(version.(map[string]any), "schema", "openAPIV3Schema")
	for field := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		name := strings.TrimRight(field, "[]{}")
		steps := []string{"properties", name}
		switch {
		case strings.HasSuffix(field, "[]"):
			steps = append(steps, "items")
		case strings.HasSuffix(field, "{}"):
			steps = append(steps, "additionalProperties")
		}
		var found bool
		if at, found, _ = unstructured.NestedMap(at, steps...); !found {
			return false
		}
	}
	return true
}
