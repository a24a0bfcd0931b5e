// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestPatched(t *testing.T) {
	type cloneSet = v1alpha1.CloneSet
	container := func(cs *cloneSet, i int) *corev1.Container { return &cs.Spec.Template.Spec.Containers[i] }
	for _, test := range []struct {
		name, original string
		change         func(*cloneSet)
		patch, want    string // both "": no patch
	}{
		{"nothing changed", `{"spec":{"replicas":3,"new":1}}`, func(*cloneSet) {}, "", ""},
		{"a zero value that was never written is not added", `{"spec":{}}`, func(cs *cloneSet) { cs.Status.Replicas = 0 }, "", ""},
		{"a value is set", `{"spec":{}}`, func(cs *cloneSet) { cs.Spec.Replicas = ptr.To[int32](1) },
			`[{"op":"add","path":"/spec/replicas","value":1}]`, `{"spec":{"replicas":1}}`},
		{"a null is set", `{"spec":{"replicas":null}}`, func(cs *cloneSet) { cs.Spec.Replicas = ptr.To[int32](1) },
			`[{"op":"replace","path":"/spec/replicas","value":1}]`, `{"spec":{"replicas":1}}`},
		{"a value is changed", `{"spec":{"replicas":3}}`, func(cs *cloneSet) { cs.Spec.Replicas = ptr.To[int32](1) },
			`[{"op":"replace","path":"/spec/replicas","value":1}]`, `{"spec":{"replicas":1}}`},
		{"a value is removed", `{"spec":{"replicas":3}}`, func(cs *cloneSet) { cs.Spec.Replicas = nil },
			`[{"op":"remove","path":"/spec/replicas"}]`, `{"spec":{}}`},
		{"a value below an object that was never written", `{"spec":{}}`, func(cs *cloneSet) { cs.Spec.UpdateStrategy.MaxSurge = ptr.To(intstr.FromInt32(0)) },
			`[{"op":"add","path":"/spec/updateStrategy","value":{"maxSurge":0}}]`, `{"spec":{"updateStrategy":{"maxSurge":0}}}`},
		{"a key with special characters", `{"metadata":{"labels":{"a/b~c":"x"}}}`, func(cs *cloneSet) { cs.Labels["a/b~c"] = "y" },
			`[{"op":"replace","path":"/metadata/labels/a~1b~0c","value":"y"}]`, `{"metadata":{"labels":{"a/b~c":"y"}}}`},
		{"a value in another spelling stays as it was written", `{"spec":{"template":{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1000m"}}}]}}}}`,
			func(cs *cloneSet) { container(cs, 0).Image = "i" },
			`[{"op":"add","path":"/spec/template/spec/containers/0/image","value":"i"}]`,
			`{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"i","resources":{"limits":{"cpu":"1000m"}}}]}}}}`},
		{"unknown fields stay: beside a change", `{"spec":{"template":{"spec":{"new":{"x":1},"containers":[{"name":"a","new":2}]}},"new":3},"new":4}`,
			func(cs *cloneSet) {
				cs.Spec.Replicas = ptr.To[int32](1)
				cs.Spec.Template.Spec.RestartPolicy = "Always"
				container(cs, 0).Image = "i"
			},
			`[{"op":"add","path":"/spec/replicas","value":1},{"op":"add","path":"/spec/template/spec/containers/0/image","value":"i"},{"op":"add","path":"/spec/template/spec/restartPolicy","value":"Always"}]`,
			`{"spec":{"replicas":1,"template":{"spec":{"new":{"x":1},"restartPolicy":"Always","containers":[{"name":"a","image":"i","new":2}]}},"new":3},"new":4}`},
		{"unknown fields stay: an element is put first", `{"spec":{"template":{"spec":{"containers":[{"name":"a","new":2}]}}}}`,
			func(cs *cloneSet) {
				pod := &cs.Spec.Template.Spec
				pod.Containers = append([]corev1.Container{{Name: "first"}}, pod.Containers...)
				container(cs, 1).Image = "i"
			},
			`[{"op":"replace","path":"/spec/template/spec/containers","value":[{"name":"first","resources":{}},{"image":"i","name":"a","new":2}]}]`,
			`{"spec":{"template":{"spec":{"containers":[{"name":"first","resources":{}},{"image":"i","name":"a","new":2}]}}}}`},
		{"unknown fields stay: elements change places", `{"spec":{"template":{"spec":{"containers":[{"name":"a","new":1},{"name":"b","new":2}]}}}}`,
			func(cs *cloneSet) {
				pod := &cs.Spec.Template.Spec
				pod.Containers[0], pod.Containers[1] = pod.Containers[1], pod.Containers[0]
			},
			`[{"op":"replace","path":"/spec/template/spec/containers/0/name","value":"b"},{"op":"replace","path":"/spec/template/spec/containers/0/new","value":2},{"op":"replace","path":"/spec/template/spec/containers/1/name","value":"a"},{"op":"replace","path":"/spec/template/spec/containers/1/new","value":1}]`,
			`{"spec":{"template":{"spec":{"containers":[{"name":"b","new":2},{"name":"a","new":1}]}}}}`},
		{"unknown fields stay: an element without a name is added", `{"spec":{"template":{"spec":{"tolerations":[{"key":"k","new":1}]}}}}`,
			func(cs *cloneSet) {
				pod := &cs.Spec.Template.Spec
				pod.Tolerations = append(pod.Tolerations, corev1.Toleration{Key: "l"})
			},
			`[{"op":"replace","path":"/spec/template/spec/tolerations","value":[{"key":"k","new":1},{"key":"l"}]}]`,
			`{"spec":{"template":{"spec":{"tolerations":[{"key":"k","new":1},{"key":"l"}]}}}}`},
		{"unknown fields stay: an element without a name changes", `{"spec":{"template":{"spec":{"tolerations":[{"key":"k","new":1}]}}}}`,
			func(cs *cloneSet) { cs.Spec.Template.Spec.Tolerations[0].Key = "l" },
			`[{"op":"replace","path":"/spec/template/spec/tolerations/0/key","value":"l"}]`,
			`{"spec":{"template":{"spec":{"tolerations":[{"key":"l","new":1}]}}}}`},
		{"a removed element goes with its unknown fields", `{"spec":{"template":{"spec":{"containers":[{"name":"a","new":1},{"name":"b","new":2}]}}}}`,
			func(cs *cloneSet) { cs.Spec.Template.Spec.Containers = cs.Spec.Template.Spec.Containers[1:] },
			`[{"op":"replace","path":"/spec/template/spec/containers","value":[{"name":"b","new":2}]}]`,
			`{"spec":{"template":{"spec":{"containers":[{"name":"b","new":2}]}}}}`},
		{"large integers keep their digits", `{"spec":{"template":{"spec":{"securityContext":{"runAsUser":1}}}}}`,
			func(cs *cloneSet) { cs.Spec.Template.Spec.SecurityContext.RunAsUser = ptr.To[int64](9007199254740993) },
			`[{"op":"replace","path":"/spec/template/spec/securityContext/runAsUser","value":9007199254740993}]`,
			`{"spec":{"template":{"spec":{"securityContext":{"runAsUser":9007199254740993}}}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := decode(t, test.original)
			test.change(changed)
			response := admission.Patched([]byte(test.original), changed)
			if !response.Allowed {
				t.Fatalf("refused: %v", response.Result)
			}
			if diff := cmp.Diff(canonical(test.patch), canonical(string(response.Patch))); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			if (response.PatchType != nil) != (test.patch != "") {
				t.Errorf("patch type %v with the patch %s", response.PatchType, response.Patch)
			}
			if test.patch == "" {
				return
			}
			if diff := cmp.Diff(canonical(test.want), canonical(apply(t, response.Patch, test.original))); diff != "" {
				t.Errorf("patched object (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPatchedRefusesWhatIsNoObject(t *testing.T) {
	for _, original := range []string{"", "[]", `{"spec":1}`} {
		response := admission.Patched([]byte(original), &v1alpha1.CloneSet{})
		if response.Allowed || response.Result.Code != 400 {
			t.Errorf("%q: got %+v, want a refusal with the code 400", original, response)
		}
	}
}

// A patch that was made from any object can be applied to it, and does what was
// done to the decoded object.
func FuzzPatched(f *testing.F) {
	f.Add(`{"spec":{"template":{"spec":{"containers":[{"name":"a","new":1}]}}}}`, "b", int32(1))
	f.Add(`{"spec":{"template":null,"updateStrategy":{"new":[1]}},"metadata":{"labels":{"a":"b"}}}`, "", int32(0))
	f.Add(`{"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"a","new":1},null]}}}}`, "a", int32(-1))
	f.Fuzz(func(t *testing.T, original, text string, number int32) {
		changed := &v1alpha1.CloneSet{}
		if err := utiljson.Unmarshal([]byte(original), changed); err != nil {
			return
		}
		text = strings.ToValidUTF8(text, "") // JSON holds nothing else
		changed.Labels = map[string]string{"a": text}
		changed.Spec.Replicas = &number
		changed.Spec.UpdateStrategy.Paused = !changed.Spec.UpdateStrategy.Paused
		pod := &changed.Spec.Template.Spec
		pod.Containers = append([]corev1.Container{{Name: text}}, pod.Containers...)

		response := admission.Patched([]byte(original), changed)
		if !response.Allowed {
			t.Fatalf("%s: refused: %v", original, response.Result)
		}
		got := decode(t, apply(t, response.Patch, original))
		if !apiequality.Semantic.DeepEqual(changed, got) {
			t.Errorf("%s, patched with %s, differs (-want +got):\n%s", original, response.Patch, cmp.Diff(changed, got))
		}
	})
}

func decode(t *testing.T, text string) *v1alpha1.CloneSet {
	t.Helper()
	out := &v1alpha1.CloneSet{}
	if err := utiljson.Unmarshal([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// apply does what the API server does with a patch.
func apply(t *testing.T, patch []byte, to string) string {
	t.Helper()
	steps, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		t.Fatalf("patch %s: %v", patch, err)
	}
	out, err := steps.Apply([]byte(to))
	if err != nil {
		t.Fatalf("patch %s cannot be applied to %s: %v", patch, to, err)
	}
	return string(out)
}

// canonical writes JSON with sorted keys, so that texts can be compared.
func canonical(text string) string {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return text
	}
	out, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(out)
}
