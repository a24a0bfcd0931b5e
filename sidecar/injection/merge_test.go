// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// What cannot be merged leaves the annotation of the pod, and is told. (SCI-5)
func TestMergeOrKeep(t *testing.T) {
	for _, test := range []struct{ name, pod, value, want, kept string }{
		{"two objects", `{"a":{"b":1},"c":[1]}`, `{"a":{"d":2}}`, `{"a":{"b":1,"d":2},"c":[1]}`, ""},
		{"an array of the pod", `{"a":[1]}`, `{"a":[2]}`, `{"a":[1]}`, "would replace that of a"},
		{"an array further down", `{"x":{"a":[1]}}`, `{"b":1,"x":{"a":"s"}}`, `{"x":{"a":[1]}}`, "would replace that of x.a"},
		{"the same array", `{"a":[1]}`, `{"a":[1],"b":2}`, `{"a":[1],"b":2}`, ""},
		{"an array that is removed", `{"a":[1],"b":2}`, `{"a":null}`, `{"b":2}`, ""},
		{"an array that the pod lacks", `{"b":2}`, `{"a":[1]}`, `{"a":[1],"b":2}`, ""},
		{"the pod's is no JSON", `text`, `{"a":1}`, `text`, "that of the pod is none"},
		{"the pod's is an array", `[1]`, `{"a":1}`, `[1]`, "that of the pod is none"},
		{"the pod's is null", `null`, `{"a":1}`, `null`, "that of the pod is none"},
		{"the SidecarSet's is no JSON", `{"a":1}`, `text`, `{"a":1}`, "that of the SidecarSet is none"},
		{"the SidecarSet's is an array", `{"a":1}`, `[2]`, `{"a":1}`, "that of the SidecarSet is none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := setOf(t, "demo", "{containers: [{name: log}]}")
			set.Spec.PatchPodMetadata = []v1alpha1.SidecarSetPatchPodMetadata{{PatchPolicy: v1alpha1.SidecarSetMergePatchJSONPatchPolicy, Annotations: map[string]string{"note": test.value}}}
			pod := podOf(t, "{}", mainOnly)
			pod.Annotations = map[string]string{"note": test.pod}
			result := inject(t, pod, set)
			if got := result.Pod.Annotations["note"]; got != test.want {
				t.Errorf("the annotation is %s, want %s", got, test.want)
			}
			kept := errors.Join(result.SidecarSets[0].Kept...)
			if (kept == nil) != (test.kept == "") || kept != nil && !strings.Contains(kept.Error(), test.kept) {
				t.Errorf("kept: %v, want %q", kept, test.kept)
			}
			if len(result.Pod.Spec.Containers) != 2 {
				t.Error("nothing is injected")
			}
		})
	}
}
