// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// edit changes a CRD: it sets a value, adds it when it is not there, and takes it
// away when the value is nil.
type edit struct {
	crd string
	// The keys of the value, with slashes between them. None stands for the whole
	// CRD. An item of a list has its name for a key, or is the key.
	at    string
	value any
}

// apply makes the edit. One that changes nothing fails the test.
func (e edit) apply(t *testing.T, crds []*unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	i := slices.IndexFunc(crds, func(crd *unstructured.Unstructured) bool { return crd.GetName() == e.crd })
	before := show(crds[i].Object)
	object := with(crds[i].Object, strings.FieldsFunc(e.at, func(r rune) bool { return r == '/' }), e.value)
	if object == nil {
		return slices.Delete(crds, i, i+1)
	}
	if show(object) == before {
		t.Fatalf("%s: the edit at %s changes nothing", e.crd, e.at)
	}
	return crds
}

// copies returns CRDs that may be edited.
func copies(crds []*unstructured.Unstructured) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, crd := range crds {
		all = append(all, crd.DeepCopy())
	}
	return all
}

// with returns what a part of a CRD is with another value at the keys.
func with(part any, keys []string, value any) any {
	if len(keys) == 0 {
		return value
	}
	switch part := part.(type) {
	case map[string]any:
		part[keys[0]] = with(part[keys[0]], keys[1:], value)
		if part[keys[0]] == nil {
			delete(part, keys[0])
		}
		return part
	case []any:
		return withItem(part, keys, value)
	}
	return part
}

func withItem(list []any, keys []string, value any) []any {
	i := slices.IndexFunc(list, func(item any) bool {
		named, _ := item.(map[string]any)
		return item == any(keys[0]) || named["name"] == keys[0]
	})
	if i < 0 {
		i, list = len(list), append(list, nil)
	}
	list[i] = with(list[i], keys[1:], value)
	return slices.DeleteFunc(list, func(item any) bool { return item == nil })
}

// inVersion returns the keys of what a version has.
func inVersion(version, at string) string { return "spec/versions/" + version + "/" + at }

// inSchema returns the keys of the schema of a field in a version, or of a part of it.
func inSchema(version, path, at string) string {
	keys := "schema/openAPIV3Schema"
	for name := range strings.SplitSeq(path[1:], ".") {
		keys += "/properties/" + strings.NewReplacer("[]", "/items", "{}", "/additionalProperties").Replace(name)
	}
	return inVersion(version, keys+"/"+at)
}
