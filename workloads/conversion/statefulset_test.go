// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/workloads/conversion"
)

const (
	alpha = "apps.kruise.io/v1alpha1"
	beta  = "apps.kruise.io/v1beta1"
)

// set is a StatefulSet in a version, with the given further fields.
func set(version, fields string) string {
	return `{"apiVersion":"` + version + `","kind":"StatefulSet",` + fields + `}`
}

// tree decodes JSON, numbers as they are written.
func tree(t failer, data []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return out
}

// failer is what testing.T and rapid.T have in common here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func convert(t failer, object []byte, version string) []byte {
	t.Helper()
	out, err := conversion.StatefulSet(object, version)
	if err != nil {
		t.Fatalf("converting %s to %s: %v", object, version, err)
	}
	return out
}

// kept are the annotations of a v1alpha1 object with nothing but those that keep the given parts of fields. The key of one
// names the place of the value in the part.
func kept(parts ...string) string {
	annotations := map[string]string{}
	for _, part := range parts {
		var at any
		if err := json.Unmarshal([]byte(part), &at); err != nil {
			panic(err)
		}
		var path []string
		for object, is := at.(map[string]any); is && len(object) == 1; object, is = at.(map[string]any) {
			for name, below := range object {
				path, at = append(path, name), below
			}
		}
		annotations[conversion.KeptFieldsPrefix+strings.Join(path, ".")] = part
	}
	return encode(annotations)
}

// former are the annotations of a v1alpha1 object with nothing but the one in which former releases kept all fields.
func former(fields string) string {
	return encode(map[string]string{conversion.KeptFieldsAnnotation: fields})
}

func encode(annotations map[string]string) string {
	encoded, err := json.Marshal(annotations)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

func TestStatefulSet(t *testing.T) {
	for _, test := range []struct{ name, beta, alpha string }{
		{"nothing to keep: no annotation",
			`"metadata":{"name":"web"},"spec":{"replicas":3},"status":{"replicas":3}`,
			`"metadata":{"name":"web"},"spec":{"replicas":3},"status":{"replicas":3}`},
		{"nothing but a name", `"metadata":{"name":"web"}`, `"metadata":{"name":"web"}`},
		{"null sections", `"metadata":{"name":"web","annotations":null},"spec":null,"status":null`, `"metadata":{"name":"web","annotations":null},"spec":null,"status":null`},
		{"STS-E23: reserveOrdinals",
			`"metadata":{"name":"web"},"spec":{"replicas":3,"reserveOrdinals":[1,2]}`,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"reserveOrdinals":[1,2]}}`) + `},"spec":{"replicas":3}`},
		{"STS-V3, LC-E20: all that v1alpha1 lacks",
			`"metadata":{"name":"web"},"spec":{"lifecycle":{"preDelete":{"markPodNotReady":true}},"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"},` +
				`"reserveOrdinals":[0],"scaleStrategy":{"maxUnavailable":"10%"}},"status":{"updatedReadyReplicas":7,"updatedAvailableReplicas":6}`,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"lifecycle":{}}}`,
				`{"spec":{"lifecycle":{"preDelete":{}}}}`,
				`{"spec":{"lifecycle":{"preDelete":{"markPodNotReady":true}}}}`,
				`{"spec":{"persistentVolumeClaimRetentionPolicy":{}}}`,
				`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}}}`,
				`{"spec":{"reserveOrdinals":[0]}}`,
				`{"spec":{"scaleStrategy":{}}}`,
				`{"spec":{"scaleStrategy":{"maxUnavailable":"10%"}}}`,
				`{"status":{"updatedAvailableReplicas":6}}`,
				`{"status":{"updatedReadyReplicas":7}}`) + `},"spec":{},"status":{}`},
		{"STS-V3: what 1.7 and 1.8 added",
			`"metadata":{"name":"web"},"spec":{"ordinals":{"start":5},"reserveOrdinals":[1,"3-5",3000000000],"volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}},` +
				`"status":{"volumeClaims":[{"compatibleReadyReplicas":1,"compatibleReplicas":2,"volumeClaimName":"data"}]}`,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"ordinals":{}}}`,
				`{"spec":{"ordinals":{"start":5}}}`,
				`{"spec":{"reserveOrdinals":[1,"3-5",3000000000]}}`,
				`{"spec":{"volumeClaimUpdateStrategy":{}}}`,
				`{"spec":{"volumeClaimUpdateStrategy":{"type":"OnPodRollingUpdate"}}}`,
				`{"status":{"volumeClaims":[{"compatibleReadyReplicas":1,"compatibleReplicas":2,"volumeClaimName":"data"}]}}`) + `},"spec":{},"status":{}`},
		{"values that say nothing are kept as they are",
			`"metadata":{"name":"web"},"spec":{"lifecycle":{},"reserveOrdinals":[],"scaleStrategy":null},"status":{"updatedReadyReplicas":0}`,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"lifecycle":{}}}`,
				`{"spec":{"reserveOrdinals":[]}}`,
				`{"spec":{"scaleStrategy":null}}`,
				`{"status":{"updatedReadyReplicas":0}}`) + `},"spec":{},"status":{}`},
		{"other annotations stay",
			`"metadata":{"name":"web","annotations":{"a":"b"}},"spec":{"reserveOrdinals":[1]}`,
			`"metadata":{"name":"web","annotations":{"a":"b",` + kept(`{"spec":{"reserveOrdinals":[1]}}`)[1:] + `},"spec":{}`},
		{"fields that neither version knows stay where they are",
			`"metadata":{"name":"web","new":1},"spec":{"template":{"spec":{"containers":[{"name":"a","new":[1,2.50]}],"new":{"x":null}}},"new":12345678901234567890},"status":{"new":true},"new":"x"`,
			`"metadata":{"name":"web","new":1},"spec":{"template":{"spec":{"containers":[{"name":"a","new":[1,2.50]}],"new":{"x":null}}},"new":12345678901234567890},"status":{"new":true},"new":"x"`},
		{"new fields inside what is kept",
			`"metadata":{"name":"web"},"spec":{"lifecycle":{"postStart":{"x":1},"preDelete":{"new":1}},"scaleStrategy":{"new":"<&>"}}`,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"lifecycle":{}}}`,
				`{"spec":{"lifecycle":{"postStart":{}}}}`,
				`{"spec":{"lifecycle":{"postStart":{"x":1}}}}`,
				`{"spec":{"lifecycle":{"preDelete":{}}}}`,
				`{"spec":{"lifecycle":{"preDelete":{"new":1}}}}`,
				`{"spec":{"scaleStrategy":{}}}`,
				`{"spec":{"scaleStrategy":{"new":"\u003c\u0026\u003e"}}}`) + `},"spec":{}`},
		{"names are told apart by case",
			`"metadata":{"name":"web"},"spec":{"ReserveOrdinals":[1],"reserveordinals":[2]}`,
			`"metadata":{"name":"web"},"spec":{"ReserveOrdinals":[1],"reserveordinals":[2]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			toAlpha := convert(t, []byte(set(beta, test.beta)), alpha)
			if diff := cmp.Diff(tree(t, []byte(set(alpha, test.alpha))), tree(t, toAlpha)); diff != "" {
				t.Errorf("v1alpha1 (-want +got):\n%s", diff)
			}
			toBeta := convert(t, toAlpha, beta)
			if diff := cmp.Diff(tree(t, []byte(set(beta, test.beta))), tree(t, toBeta)); diff != "" {
				t.Errorf("v1beta1 again (-want +got):\n%s", diff)
			}
			if again := convert(t, toBeta, alpha); !bytes.Equal(toAlpha, again) {
				t.Errorf("the same object gave\n%s and then\n%s", toAlpha, again)
			}
		})
	}
}

// What an object can look like when a user has edited the annotation.
func TestStatefulSetAnnotationOfOthers(t *testing.T) {
	for _, test := range []struct{ name, from, to, object, want string }{
		{"a v1beta1 object with the annotation loses it", beta, alpha,
			`"metadata":{"name":"web","annotations":` + former(`{"spec":{"reserveOrdinals":[1]}}`) + `},"spec":{"replicas":1}`,
			`"metadata":{"name":"web"},"spec":{"replicas":1}`},
		{"a v1beta1 object with an old annotation gets a new one", beta, alpha,
			`"metadata":{"name":"web","annotations":` + former(`no JSON`) + `},"spec":{"reserveOrdinals":[2]}`,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"reserveOrdinals":[2]}}`) + `},"spec":{}`},
		{"an annotation that keeps nothing", alpha, beta,
			`"metadata":{"name":"web","annotations":` + former(`{}`) + `}`, `"metadata":{"name":"web"}`},
		{"an annotation with an empty section", alpha, beta,
			`"metadata":{"name":"web","annotations":` + former(`{"spec":{},"status":null}`) + `}`, `"metadata":{"name":"web"}`},
		{"a section that the object does not have", alpha, beta,
			`"metadata":{"name":"web","annotations":` + former(`{"status":{"updatedReadyReplicas":3}}`) + `}`,
			`"metadata":{"name":"web"},"status":{"updatedReadyReplicas":3}`},
		{"a field that stands in its place too", alpha, beta,
			`"metadata":{"name":"web","annotations":` + former(`{"spec":{"reserveOrdinals":[1]}}`) + `},"spec":{"reserveOrdinals":[2]}`,
			`"metadata":{"name":"web"},"spec":{"reserveOrdinals":[2]}`},
		{"STS-V3: of the annotation of former releases counts what no annotation of its own says", alpha, beta,
			`"metadata":{"name":"web","annotations":` + both(former(`{"spec":{"ordinals":{"start":7},"reserveOrdinals":[1],"scaleStrategy":{"maxUnavailable":1}}}`),
				kept(`{"spec":{"reserveOrdinals":[2]}}`, `{"spec":{"ordinals":{}}}`, `{"spec":{"lifecycle":null}}`)) + `}`,
			`"metadata":{"name":"web"},"spec":{"lifecycle":null,"ordinals":{"start":7},"reserveOrdinals":[2],"scaleStrategy":{"maxUnavailable":1}}`},
		{"STS-V3: a v1beta1 object with annotations of parts loses them", beta, alpha,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"reserveOrdinals":[1]}}`, `{"spec":{"ordinals":{}}}`) + `},"spec":{"ordinals":{}}`,
			`"metadata":{"name":"web","annotations":` + kept(`{"spec":{"ordinals":{}}}`) + `},"spec":{}`},
		{"STS-V3: labels whose keys no annotation can have", beta, alpha,
			`"metadata":{"name":"web"},"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"a.b/c":"d","e":"f"}}}}`,
			`"metadata":{"name":"web","annotations":` + both(kept(`{"spec":{"lifecycle":{}}}`, `{"spec":{"lifecycle":{"preDelete":{}}}}`, `{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{}}}}}`,
				`{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"e":"f"}}}}}`),
				encode(map[string]string{conversion.KeptFieldsPrefix + "fb7b291343726f95691b77f6460ddd87": `{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"a.b/c":"d"}}}}}`})) + `},"spec":{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := convert(t, []byte(set(test.from, test.object)), test.to)
			if diff := cmp.Diff(tree(t, []byte(set(test.to, test.want))), tree(t, got)); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

// both are two sets of annotations in one.
func both(one, two string) string {
	return strings.TrimSuffix(one, "}") + "," + strings.TrimPrefix(two, "{")
}

func TestStatefulSetOfTheWantedVersion(t *testing.T) {
	for _, version := range []string{alpha, beta} {
		object := []byte(set(version, ` "spec": {"reserveOrdinals": [1]} `))
		if got := convert(t, object, version); !bytes.Equal(object, got) {
			t.Errorf("converted %s to %s, want no change", object, got)
		}
	}
}

func TestStatefulSetErrors(t *testing.T) {
	annotated := func(value string) string {
		return set(alpha, `"metadata":{"name":"web","annotations":`+former(value)+`},"spec":{}`)
	}
	const part = "metadata.annotations[v1beta1-fields.podwright.github.io/"
	const annotation = "metadata.annotations[podwright.github.io/v1beta1-fields]: "
	for _, test := range []struct{ name, object, to, want string }{
		{"nothing", "", beta, "want a StatefulSet as JSON: unexpected end of JSON input"},
		{"no JSON", "{", beta, "want a StatefulSet as JSON: unexpected end of JSON input"},
		{"null", "null", beta, "want a StatefulSet as JSON: want an object, got null"},
		{"a list", "[]", beta, "want a StatefulSet as JSON: want an object, got an array"},
		{"another kind", `{"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet"}`, beta, `kind: want StatefulSet, got "CloneSet"`},
		{"no kind", `{"apiVersion":"apps.kruise.io/v1alpha1"}`, beta, `kind: want StatefulSet, got ""`},
		{"Kubernetes' own kind", set("apps/v1", `"spec":{}`), beta, `apiVersion: a StatefulSet has apps.kruise.io/v1alpha1 and apps.kruise.io/v1beta1, got "apps/v1"`},
		{"an unknown version to convert to", set(beta, `"spec":{}`), "apps.kruise.io/v1", `got "apps.kruise.io/v1"`},
		{"no version to convert to", set(beta, `"spec":{}`), "", `got ""`},
		{"spec is no object", set(beta, `"spec":3`), alpha, "spec: want an object, got a number"},
		{"status is no object", set(beta, `"status":"x"`), alpha, "status: want an object, got a string"},
		{"metadata is no object", set(beta, `"metadata":true`), alpha, "metadata: want an object, got a boolean"},
		{"annotations are no object", set(alpha, `"metadata":{"annotations":[]}`), beta, "metadata.annotations: want an object, got an array"},
		{"the annotation is no string", set(alpha, `"metadata":{"annotations":{"podwright.github.io/v1beta1-fields":{}}}`), beta, annotation + "want a string, got an object"},
		{"the annotation is empty", annotated(""), beta, annotation + "unexpected end of JSON input"},
		{"the annotation is no JSON", annotated("{spec}"), beta, annotation + "invalid character 's'"},
		{"the annotation is no object", annotated("7"), beta, annotation + "want an object, got a number"},
		{"the annotation has a section that is no object", annotated(`{"spec":[]}`), beta, annotation + "spec: want an object, got an array"},
		{"the annotation has a field that v1alpha1 has", annotated(`{"spec":{"replicas":3}}`), beta, annotation + "spec.replicas is no field that only v1beta1 has"},
		{"the annotation has a field in the wrong section", annotated(`{"status":{"reserveOrdinals":[1]}}`), beta, annotation + "status.reserveOrdinals is no field that only v1beta1 has"},
		{"the annotation would change metadata", annotated(`{"metadata":{"name":"db"}}`), beta, annotation + "metadata.name is no field that only v1beta1 has"},
		{"the annotation has ordinals that are no numbers", annotated(`{"spec":{"reserveOrdinals":[true]}}`), beta, annotation + "spec.reserveOrdinals: json: cannot unmarshal bool"},
		{"the annotation has a first ordinal that is none", annotated(`{"spec":{"ordinals":{"start":"1"}}}`), beta, annotation + "spec.ordinals: json: cannot unmarshal string"},
		{"the annotation has an ordinal with a fraction", annotated(`{"spec":{"reserveOrdinals":[1.5]}}`), beta, annotation + "spec.reserveOrdinals: json: cannot unmarshal number 1.5"},
		{"the annotation has a hook that is none", annotated(`{"spec":{"lifecycle":{"preDelete":[]}}}`), beta, annotation + "spec.lifecycle: json: cannot unmarshal array"},
		{"the annotation has a limit that is none", annotated(`{"spec":{"scaleStrategy":{"maxUnavailable":true}}}`), beta, annotation + "spec.scaleStrategy: json: cannot unmarshal bool"},
		{"the annotation has a policy that is no word", annotated(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":1}}}`), beta, annotation + "spec.persistentVolumeClaimRetentionPolicy: json: cannot unmarshal number"},
		{"the annotation has a count beyond int32", annotated(`{"status":{"updatedReadyReplicas":3000000000}}`), beta, annotation + "status.updatedReadyReplicas: json: cannot unmarshal number 3000000000"},
		{"a part is no JSON", set(alpha, `"metadata":{"annotations":{"v1beta1-fields.podwright.github.io/x":"x"}}`), beta, part + "x]: invalid character 'x'"},
		{"a part is of another type", set(alpha, `"metadata":{"annotations":`+kept(`{"spec":{"reserveOrdinals":7}}`)+`}`), beta, part + "spec.reserveOrdinals]: spec.reserveOrdinals: json: cannot unmarshal number"},
		{"a part is one of no field", set(alpha, `"metadata":{"annotations":`+kept(`{"spec":{"replicas":7}}`)+`}`), beta, part + "spec.replicas]: spec.replicas is no field that only v1beta1 has"},
		{"the section of a good annotation is no object", strings.Replace(annotated(`{"spec":{"lifecycle":{}}}`), `"spec":{}`, `"spec":[]`, 1), beta, "spec: want an object, got an array"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := conversion.StatefulSet([]byte(test.object), test.to)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %s, error %v, want %q", got, err, test.want)
			}
		})
	}
}
