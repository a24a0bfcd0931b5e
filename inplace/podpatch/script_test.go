// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestPatches shows in testdata/patches.txt what patches write to testPod: each request as "subresource: data", without the UID, and
// what Apply refuses. For each it checks that Changes, Apply and Condition agree with the requests.
func TestPatches(t *testing.T) {
	datadriven.RunTest(t, "testdata/patches.txt", func(t *testing.T, d *datadriven.TestData) string {
		p, pod := patchOf(t, d.Input), testPod()
		if d.Cmd == "show" {
			return p.String()
		}
		var out strings.Builder
		if p.Empty() {
			fmt.Fprintln(&out, "asks for nothing")
		}
		writes, err := p.Writes(pod)
		if p.Changes(pod) != (err != nil || len(writes) > 0) {
			t.Errorf("%s: Changes is %v, Writes returns %d requests and error %v", d.Pos, p.Changes(pod), len(writes), err)
		}
		show(t, &out, writes)
		if err != nil {
			fmt.Fprintln(&out, "Writes:", err)
		} else if len(writes) == 0 {
			fmt.Fprintln(&out, "writes nothing")
		}
		after, err := p.Apply(pod)
		if diff := cmp.Diff(testPod(), pod); diff != "" {
			t.Errorf("%s: the pod was changed (-before +after):\n%s", d.Pos, diff)
		}
		if err != nil {
			fmt.Fprintln(&out, "Apply:", err)
			return out.String()
		}
		checkApplied(t, p, after)
		return out.String()
	})
}

// patchOf reads a patch in YAML, with Metadata as text. Its conditions have changed at noon.
func patchOf(t *testing.T, text string) *podpatch.Patch {
	t.Helper()
	in := patches.Object[struct {
		podpatch.Patch
		Metadata   string
		Conditions []corev1.PodCondition
	}](t, text)
	p := in.Patch
	if in.Metadata != "" {
		p.Metadata = []byte(in.Metadata)
	}
	for _, c := range in.Conditions {
		c.LastTransitionTime = at
		p.SetCondition(c)
	}
	return &p
}

// show checks that every write names the UID and takes it out.
func show(t *testing.T, out *strings.Builder, writes []podpatch.Write) {
	t.Helper()
	for _, w := range writes {
		data := string(w.Data)
		if !strings.Contains(data, `"uid":"u1"`) {
			t.Errorf("write does not name the pod's UID: %s", data)
		}
		subresource := w.Subresource
		if subresource == "" {
			subresource = "pod"
		}
		if w.Chained {
			subresource += ", chained"
		}
		fmt.Fprintf(out, "%s: %s\n", subresource, strings.NewReplacer(`,"uid":"u1"`, "", `"uid":"u1"`, "").Replace(data))
	}
}

// checkApplied checks that testPod after a patch is what an API server makes of it. It has the conditions that the patch tells, and is not
// written again.
func checkApplied(t *testing.T, p *podpatch.Patch, after *corev1.Pod) {
	t.Helper()
	want, err := served(p, testPod())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, after, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("patch %s (-API server +Apply):\n%s", p, diff)
	}
	for _, kind := range []corev1.PodConditionType{"A", "B", "C"} {
		applied, told := (&podpatch.Patch{}).Condition(after, kind), p.Condition(testPod(), kind)
		if diff := cmp.Diff(applied, told, cmpopts.IgnoreFields(corev1.PodCondition{}, "ObservedGeneration", "LastTransitionTime")); diff != "" {
			t.Errorf("condition %s (-applied +told):\n%s", kind, diff)
		}
	}
	if strings.Contains(string(p.Metadata), "$") || strings.Contains(string(p.Metadata), `"finalizers":null`) {
		return // whether a directive stands is known to the API server only, and that of all finalizers is one
	}
	if writes, err := p.Writes(after); err != nil || len(writes) != 0 {
		t.Errorf("the patch still writes after it was applied: %v, error %v", writes, err)
	}
}
