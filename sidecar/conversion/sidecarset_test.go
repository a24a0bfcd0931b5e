// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"encoding/json"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestConversions shows what SidecarSets are in another version, in testdata/conversions: see conformance.PlayConversions.
func TestConversions(t *testing.T) {
	conformance.PlayConversions(t, "testdata/conversions", map[string]conformance.Convert{"SidecarSet": conversion.SidecarSet})
}

// SCS-V7: the custom version is the label of v1alpha1, and without one that of v1beta1.
func TestCustomVersion(t *testing.T) {
	const (
		label    = `"labels":{"apps.kruise.io/sidecarset-custom-version":"v1"}`
		ownLabel = `"annotations":{"v1beta1-fields.podwright.github.io/f7c1ab78a4d90509a6af595079d7de86":` +
			`"{\"metadata\":{\"labels\":{\"apps.kruise.io/sidecarset-custom-version\":\"v0\"}}}"}`
	)
	for _, test := range []struct{ name, metadata, want string }{
		{"none", ``, ""},
		{"the label", label, "v1"},
		{"the label of v1beta1", ownLabel, "v0"},
		{"both", label + "," + ownLabel, "v1"},
		{"one that no label can hold", `"annotations":{"v1beta1-fields.podwright.github.io/spec.customVersion":"{\"spec\":{\"customVersion\":\"a b\"}}"}`, ""},
		{"an annotation that cannot be read", `"annotations":{"podwright.github.io/v1beta1-fields":"no JSON"}`, ""},
	} {
		object := &v1alpha1.SidecarSet{}
		if err := json.Unmarshal([]byte(`{"metadata":{`+test.metadata+`}}`), object); err != nil {
			t.Fatal(err)
		}
		if got := conversion.CustomVersion(object); got != test.want {
			t.Errorf("%s: custom version %q, want %q", test.name, got, test.want)
		}
	}
}
