// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	deleteKey = `{"userAgent":"Lifecycle","key":"preDeleteHook"}`
	updateKey = `{"userAgent":"Lifecycle","key":"preUpdateHook"}`
	otherKey  = `{"userAgent":"ContainerRecreateRequest","key":"shop/restart"}`
)

var (
	now    = time.Date(2024, 5, 1, 12, 0, 0, 0, time.FixedZone("CEST", 2*60*60))
	before = now.Add(-time.Hour)
)

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", now)

// newPod is an available pod of a state, or of "-", for none. Words change it.
func newPod(changes ...string) *corev1.Pod {
	if changes[0] = "state=" + changes[0]; changes[0] == "state=-" {
		changes = changes[1:]
	}
	return patches.Changed(words, &corev1.Pod{}, append([]string{"available"}, changes...)...)
}

// lifecycleOf reads hooks in YAML.
func lifecycleOf(t testing.TB, text string) *v1alpha1.Lifecycle {
	t.Helper()
	return *patches.Object[*v1alpha1.Lifecycle](t, text)
}

// changed shows what a patch does, and checks what holds for all. The state comes with
// the time of the change, and a condition makes the patch conditional.
func changed(t *testing.T, p *podpatch.Patch) (out string) {
	t.Helper()
	var labels string
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		value := p.Labels[key]
		if value == nil {
			t.Fatalf("label %s is removed", key)
		}
		if key == v1alpha1.StateLabel {
			out = "state " + *value + "\n"
			continue
		}
		labels += "label " + key + "=" + *value + "\n"
	}
	at := ptr.Deref(p.Annotations[v1alpha1.TimestampAnnotation], "")
	if (at != "") != (out != "") || at != "" && at != "2024-05-01T12:00:00+02:00" {
		t.Errorf("LC-4: %q is set with the time %q", out, at)
	}
	for _, condition := range p.Conditions {
		if condition.Type == v1alpha1.KruisePodReady {
			out += "in service " + keyNames.Replace(string(condition.Status)+" "+condition.Message) + "\n"
			if !p.IfUnchanged {
				t.Error("a change of the shared condition must be conditional")
			}
		}
	}
	for _, finalizer := range p.AddFinalizers {
		labels += "finalizer " + finalizer + "\n"
	}
	return out + labels
}

// apply returns the patched pod, and checks that one request
// was enough unless finalizers are added.
func apply(t testing.TB, p *podpatch.Patch, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	writes, err := p.Writes(pod)
	if err != nil {
		t.Fatal(err)
	}
	if len(writes) > 1 && len(p.AddFinalizers) == 0 {
		t.Errorf("want one request, got %d", len(writes))
	}
	after, err := p.Apply(pod)
	if err != nil {
		t.Fatal(err)
	}
	return after
}
