// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Every difference is named in testdata/planted.txt, with its place and with what was wanted and found. An edit has a CRD by its plural, a place,
// and a value in YAML: null takes away what is there. The place is the keys of the value, with slashes between them. An item of a list has its
// name for a key, or is the key. Or it is a version and keys in it. For a field it is a version, the path of the field and keys in its schema.
func TestPlantedDifferences(t *testing.T) {
	promised, originals := contracts(t, "testdata", kinds), embedded()
	datadriven.RunTest(t, "testdata/planted.txt", func(t *testing.T, d *datadriven.TestData) string {
		var crds []*unstructured.Unstructured
		for _, crd := range originals {
			crds = append(crds, crd.DeepCopy())
		}
		for line := range strings.Lines(d.Input) {
			crds = edited(t, crds, strings.TrimSpace(line))
		}
		found, err := promisesOf(crds)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(append(differences(promised, found), ""), "\n")
	})
}

// edited makes an edit. One that changes nothing fails the test.
func edited(t *testing.T, crds []*unstructured.Unstructured, line string) []*unstructured.Unstructured {
	t.Helper()
	place, text, _ := strings.Cut(line, ": ")
	words := append(strings.Fields(place), "", "", "")
	var value any
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(data, &value)
	}
	i := slices.IndexFunc(crds, func(crd *unstructured.Unstructured) bool { return strings.HasPrefix(crd.GetName(), words[0]+".") })
	if err != nil || i < 0 {
		t.Fatalf("%s: CRD %d, error %v", line, i, err)
	}
	keys := words[1]
	if strings.HasPrefix(words[1], "v1") {
		keys = "spec/versions/" + words[1] + "/" + words[2]
	}
	if fields, is := strings.CutPrefix(words[2], "."); is {
		keys = "spec/versions/" + words[1] + "/schema/openAPIV3Schema"
		for name := range strings.SplitSeq(fields, ".") {
			keys += "/properties/" + strings.NewReplacer("[]", "/items", "{}", "/additionalProperties").Replace(name)
		}
		keys += "/" + words[3]
	}
	before := show(crds[i].Object)
	object := with(crds[i].Object, strings.FieldsFunc(keys, func(r rune) bool { return r == '/' }), value)
	if object == nil {
		return slices.Delete(crds, i, i+1)
	}
	if show(object) == before {
		t.Fatalf("%s: nothing changes", line)
	}
	return crds
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
		i := slices.IndexFunc(part, func(item any) bool { return item == any(keys[0]) || object(item)["name"] == keys[0] })
		if i < 0 {
			i, part = len(part), append(part, nil)
		}
		part[i] = with(part[i], keys[1:], value)
		return slices.DeleteFunc(part, func(item any) bool { return item == nil })
	}
	return part
}
