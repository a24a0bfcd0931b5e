// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestPatched shows the patches for the objects in testdata/patches.txt. Behind "change" stands what a webhook changes in the decoded CloneSet, as a merge
// patch of it; then, what it is with the patch.
func TestPatched(t *testing.T) {
	datadriven.RunTest(t, "testdata/patches.txt", func(t *testing.T, d *datadriven.TestData) string {
		original, change, _ := strings.Cut(d.Input, "\nchange ")
		before, err := json.Marshal(decode(t, original))
		if err != nil {
			t.Fatal(err)
		}
		after, err := jsonpatch.MergePatch(before, []byte(change))
		if err != nil {
			t.Fatal(err)
		}
		response := admission.Patched([]byte(original), decode(t, string(after)))
		if !response.Allowed {
			t.Fatalf("refused: %v", response.Result)
		}
		if (response.PatchType != nil) != (response.Patch != nil) {
			t.Errorf("patch type %v with the patch %s", response.PatchType, response.Patch)
		}
		if response.Patch == nil {
			return "no patch\n"
		}
		steps := strings.ReplaceAll(canonical(string(response.Patch)), `},{"op"`, "},\n{\"op\"")
		return steps + "\n" + canonical(apply(t, response.Patch, original)) + "\n"
	})
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
