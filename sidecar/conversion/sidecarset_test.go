// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/sidecar/conversion"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const (
	alpha = "apps.kruise.io/v1alpha1"
	beta  = "apps.kruise.io/v1beta1"
)

// set is a SidecarSet in a version, with the given further fields.
func set(version, fields string) string {
	return `{"apiVersion":"` + version + `","kind":"SidecarSet",` + fields + `}`
}

// metadata is the metadata of an object: a label (a version), and annotations that keep parts of fields of another version.
// What is empty is left out. What is no such part is in the annotation of former releases.
func metadata(version, of string, parts ...string) string {
	fields := `"metadata":{"name":"log"`
	if version != "" {
		fields += `,"labels":{"apps.kruise.io/sidecarset-custom-version":"` + version + `"}`
	}
	annotations := map[string]string{}
	for _, part := range parts {
		if key := keyOf(part); key != "" {
			annotations[of+"-fields.podwright.github.io/"+key] = part
		} else if part != "" {
			annotations["podwright.github.io/"+of+"-fields"] = part
		}
	}
	if len(annotations) > 0 {
		text, err := json.Marshal(annotations)
		if err != nil {
			panic(err)
		}
		fields += `,"annotations":` + string(text)
	}
	return fields + `}`
}

// keyOf names the one value that a part holds, "" if it holds several or is none.
func keyOf(part string) string {
	var at any
	if json.Unmarshal([]byte(part), &at) != nil {
		return ""
	}
	var path []string
	object, is := at.(map[string]any)
	for ; is && len(object) == 1; object, is = at.(map[string]any) {
		for name, below := range object {
			path, at = append(path, name), below
		}
	}
	switch key := strings.Join(path, "."); {
	case len(object) > 1:
		return ""
	case key == "metadata.labels.apps.kruise.io/sidecarset-custom-version":
		return "f7c1ab78a4d90509a6af595079d7de86" // a hash, since that is no key
	default:
		return key
	}
}

func convert(t *testing.T, object, version string) string {
	t.Helper()
	out, err := conversion.SidecarSet([]byte(object), version)
	if err != nil {
		t.Fatalf("converting %s: %v", object, err)
	}
	return string(out)
}

func compare(t *testing.T, what, want, got string) {
	t.Helper()
	var wanted, is any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if err := json.Unmarshal([]byte(got), &is); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if diff := cmp.Diff(wanted, is); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// ownLabel is a part that keeps the label that a SidecarSet has in v1beta1 beside its custom version.
const ownLabel = `{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"v0"}}}`

// only is the selector of a namespace.
func only(namespace string) string {
	return fmt.Sprintf(`"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":%q}}`, namespace)
}

// SCS-V7: an object is what it was when it comes back, from whichever version.
func TestSidecarSet(t *testing.T) {
	const rest = `,"containers":[{"name":"log","new":1}]`
	for _, test := range []struct{ name, alpha, beta string }{
		{"nothing but a name", metadata("", "", ""), metadata("", "", "")},
		{"the same in both", metadata("", "", "") + `,"spec":{"selector":{}` + rest + `},"new":1`, metadata("", "", "") + `,"spec":{"selector":{}` + rest + `},"new":1`},
		{"a custom version", metadata("v1", "", "") + `,"spec":{"selector":{}}`, metadata("", "", "") + `,"spec":{"selector":{},"customVersion":"v1"}`},
		{"an empty one", `"metadata":{"name":"log","labels":{"apps.kruise.io/sidecarset-custom-version":"","a":"b"}},"spec":{}`,
			`"metadata":{"name":"log","labels":{"a":"b"}},"spec":{"customVersion":""}`},
		{"one that no label can hold", metadata("", "v1beta1", `{"spec":{"customVersion":"a b"}}`) + `,"spec":{}`, metadata("", "", "") + `,"spec":{"customVersion":"a b"}`},
		{"the label of v1beta1", metadata("", "v1beta1", ownLabel) + `,"spec":{}`, metadata("v0", "", "") + `,"spec":{}`},
		{"a custom version and the label", metadata("v1", "v1beta1", ownLabel) + `,"spec":{}`, metadata("v0", "", "") + `,"spec":{"customVersion":"v1"}`},
		{"a namespace", metadata("", "", "") + `,"spec":{"namespace":"shop"` + rest + `}`,
			metadata("", "v1alpha1", `{"spec":{"namespace":"shop"}}`) + `,"spec":{` + only("shop") + rest + `}`},
		{"a namespace and a selector", metadata("", "", "") + `,"spec":{"namespace":"shop","namespaceSelector":{"matchLabels":{"a":"b"}}}`,
			metadata("", "v1alpha1", `{"spec":{"namespace":"shop"}}`, `{"spec":{"namespaceSelector":{}}}`,
				`{"spec":{"namespaceSelector":{"matchLabels":{}}}}`, `{"spec":{"namespaceSelector":{"matchLabels":{"a":"b"}}}}`) + `,"spec":{` + only("shop") + `}`},
		{"no name of a namespace", metadata("", "", "") + `,"spec":{"namespace":"","namespaceSelector":{"matchLabels":{"a":"b"}}}`,
			metadata("", "", "") + `,"spec":{"namespaceSelector":{"matchLabels":{"a":"b"}}}`},
		{"no name and no selector", metadata("", "", "") + `,"spec":{"namespace":""}`, metadata("", "v1alpha1", `{"spec":{"namespace":""}}`) + `,"spec":{}`},
		{"a selector of v1alpha1", metadata("", "", "") + `,"spec":{` + only("shop") + `}`, metadata("", "v1alpha1", `{"spec":{"namespace":null}}`) + `,"spec":{` + only("shop") + `}`},
		{"a selector of v1beta1", metadata("", "", "") + `,"spec":{"namespace":"",` + only("shop") + `}`, metadata("", "", "") + `,"spec":{` + only("shop") + `}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, "v1beta1", set(beta, test.beta), convert(t, set(alpha, test.alpha), beta))
			compare(t, "v1alpha1", set(alpha, test.alpha), convert(t, set(beta, test.beta), alpha))
		})
	}
}

// SCS-V7: what a user of one version writes counts, whatever the annotation keeps of the other one.
func TestSidecarSetEdits(t *testing.T) {
	custom, namespace := `{"spec":{"customVersion":"v1"}}`, `{"spec":{"namespace":"shop"}}`
	for _, test := range []struct{ name, from, object, to, want string }{
		{"another label", alpha, metadata("v2", "v1beta1", custom) + `,"spec":{}`, beta, metadata("", "", "") + `,"spec":{"customVersion":"v2"}`},
		{"a label in place of what no label can hold", alpha, metadata("v2", "v1beta1", `{"spec":{"customVersion":"a b"}}`) + `,"spec":{}`, beta, metadata("", "", "") + `,"spec":{"customVersion":"v2"}`},
		{"no label", alpha, metadata("", "v1beta1", custom) + `,"spec":{}`, beta, metadata("", "", "") + `,"spec":{}`},
		{"another custom version", beta, metadata("", "", "") + `,"spec":{"customVersion":"v2"}`, alpha, metadata("v2", "", "") + `,"spec":{}`},
		{"another selector", beta, metadata("", "v1alpha1", namespace) + `,"spec":{` + only("db") + `}`, alpha, metadata("", "", "") + `,"spec":{"namespace":"",` + only("db") + `}`},
		{"another selector in place of one of v1alpha1", beta, metadata("", "v1alpha1", `{"spec":{"namespace":null}}`) + `,"spec":{` + only("db") + `}`, alpha, metadata("", "", "") + `,"spec":{` + only("db") + `}`},
		{"no selector in place of one of v1alpha1", beta, metadata("", "v1alpha1", `{"spec":{"namespace":null}}`) + `,"spec":{}`, alpha, metadata("", "", "") + `,"spec":{}`},
		{"no selector", beta, metadata("", "v1alpha1", namespace) + `,"spec":{}`, alpha, metadata("", "", "") + `,"spec":{}`},
		{"the selector in other words", beta, metadata("", "v1alpha1", namespace) + `,"spec":{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"},"matchExpressions":[]}}`, alpha,
			metadata("", "", "") + `,"spec":{"namespace":"","namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"},"matchExpressions":[]}}`},
		{"what former releases have kept", alpha, metadata("v1", "v1beta1", `{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"v0"}},"spec":{"customVersion":"v1"}}`) + `,"spec":{}`, beta,
			metadata("v0", "", "") + `,"spec":{"customVersion":"v1"}`},
		{"an annotation without a meaning", alpha, metadata("", "v1alpha1", namespace) + `,"spec":{}`, beta, metadata("", "", "") + `,"spec":{}`},
		{"what is stored is read", beta, metadata("", "v1alpha1", "{") + `,"spec":{}`, alpha, metadata("", "v1alpha1", "{") + `,"spec":{}`},
		{"so is what is of another type", beta, metadata("", "v1alpha1", `{"spec":{"namespace":3}}`) + `,"spec":{}`, alpha, metadata("", "v1alpha1", `{"spec":{"namespace":3}}`) + `,"spec":{}`},
		{"so is what is no selector", beta, metadata("", "v1alpha1", `{"spec":{"namespaceSelector":3}}`) + `,"spec":{}`, alpha, metadata("", "v1alpha1", `{"spec":{"namespaceSelector":3}}`) + `,"spec":{}`},
		{"so is what has no place there", beta, metadata("", "v1alpha1", `{"spec":{"containers":[]}}`) + `,"spec":{}`, alpha, metadata("", "v1alpha1", `{"spec":{"containers":[]}}`) + `,"spec":{}`},
		{"so is what has no place in the annotation of former releases", beta, metadata("", "v1alpha1", `{"spec":{"containers":[],"namespace":"shop"}}`) + `,"spec":{}`, alpha,
			metadata("", "v1alpha1", `{"spec":{"containers":[],"namespace":"shop"}}`) + `,"spec":{}`},
		{"in the other version too", alpha, metadata("", "v1beta1", "no JSON") + `,"spec":{}`, beta, metadata("", "v1beta1", "no JSON") + `,"spec":{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			compare(t, test.to, set(test.to, test.want), convert(t, set(test.from, test.object), test.to))
		})
	}
}

// SCS-V7: what no SidecarSet is, is refused.
func TestSidecarSetErrors(t *testing.T) {
	for _, test := range []struct{ name, object, want string }{
		{"no JSON", "{", "want a SidecarSet as JSON"},
		{"another kind", `{"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet"}`, `kind: want SidecarSet, got "CloneSet"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := conversion.SidecarSet([]byte(test.object), alpha)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %s, error %v, want %q", got, err, test.want)
			}
		})
	}
}

// SCS-V7: the custom version is the label of v1alpha1, and without one that of v1beta1.
func TestCustomVersion(t *testing.T) {
	for _, test := range []struct{ name, set, want string }{
		{"none", set(alpha, metadata("", "", "")), ""},
		{"the label", set(alpha, metadata("v1", "", "")), "v1"},
		{"the label of v1beta1", set(alpha, metadata("", "v1beta1", ownLabel)), "v0"},
		{"both", set(alpha, metadata("v1", "v1beta1", ownLabel)), "v1"},
		{"one that no label can hold", set(alpha, metadata("", "v1beta1", `{"spec":{"customVersion":"a b"}}`)), ""},
		{"an annotation that cannot be read", set(alpha, metadata("", "v1beta1", "no JSON")), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := &v1alpha1.SidecarSet{}
			if err := json.Unmarshal([]byte(test.set), object); err != nil {
				t.Fatal(err)
			}
			if got := conversion.CustomVersion(object); got != test.want {
				t.Errorf("custom version %q, want %q", got, test.want)
			}
		})
	}
}
