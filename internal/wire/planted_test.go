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

// Every difference is named in testdata/planted.txt, with its place and with what was wanted and found. The place is that of edit.at, or a
// version and what it has. For a field it is a version, the path of the field and what its schema has.
func TestPlantedDifferences(t *testing.T) {
	wanted, originals := contracts(t), embedded()
	datadriven.RunTest(t, "testdata/planted.txt", func(t *testing.T, d *datadriven.TestData) string {
		crds := copies(originals)
		for line := range strings.Lines(d.Input) {
			crds = editOf(t, crds, strings.TrimSpace(line)).apply(t, crds)
		}
		found, err := contractsOf(crds)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, difference := range differences(wanted, found) {
			out.WriteString(difference + "\n")
		}
		return out.String()
	})
}

// editOf reads an edit: a CRD by its plural, a place, and a value in YAML.
func editOf(t *testing.T, crds []*unstructured.Unstructured, line string) (e edit) {
	t.Helper()
	place, value, _ := strings.Cut(line, ": ")
	words := append(strings.Fields(place), "", "", "")
	data, err := yaml.YAMLToJSON([]byte(value))
	if err == nil {
		err = json.Unmarshal(data, &e.value)
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	i := slices.IndexFunc(crds, func(crd *unstructured.Unstructured) bool { return strings.HasPrefix(crd.GetName(), words[0]+".") })
	if i < 0 {
		t.Fatalf("there is no CRD %s to edit", words[0])
	}
	switch e.crd = crds[i].GetName(); {
	case !strings.HasPrefix(words[1], "v1"):
		e.at = words[1]
	case strings.HasPrefix(words[2], "."):
		e.at = inSchema(words[1], words[2], words[3])
	default:
		e.at = inVersion(words[1], words[2])
	}
	return e
}
