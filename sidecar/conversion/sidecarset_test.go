// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"encoding/json"
	"testing"

	"github.com/cockroachdb/datadriven"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestSidecarSets shows in testdata/sidecarsets.txt what SidecarSets are in the version behind "to", also what users have written in one of
// them. With "both", an object of v1alpha1 is what it was when it comes back from v1beta1. "custom" shows the custom version, which is the
// label of v1alpha1, and without one that of v1beta1. (SCS-V7)
func TestSidecarSets(t *testing.T) {
	const group = "apps.kruise.io/"
	datadriven.RunTest(t, "testdata/sidecarsets.txt", func(t *testing.T, d *datadriven.TestData) string {
		object, err := yaml.YAMLToJSON([]byte(d.Input))
		if err != nil {
			object = []byte(d.Input) // which is no JSON either
		}
		switch d.Cmd {
		case "custom":
			set := &v1alpha1.SidecarSet{}
			if err := json.Unmarshal(object, set); err != nil {
				t.Fatal(err)
			}
			return conversion.CustomVersion(set) + "\n"
		case "to":
			return convert(t, object, group+d.CmdArgs[0].Key)
		}
		there := convert(t, object, group+"v1beta1")
		if back := convert(t, []byte(there), group+"v1alpha1"); back != sorted(t, object) {
			t.Errorf("%s: it comes back as %s", d.Pos, back)
		}
		return there
	})
}

// convert is an object in a version, or an error.
func convert(t *testing.T, object []byte, version string) string {
	t.Helper()
	out, err := conversion.SidecarSet(object, version)
	if err != nil {
		return err.Error() + "\n"
	}
	return sorted(t, out)
}

// sorted is JSON with sorted keys.
func sorted(t *testing.T, data []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}
