// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

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
func lifecycleOf(t testing.TB, text string) (l *v1alpha1.Lifecycle) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// change is what a patch does, in short.
type change struct {
	State v1alpha1.StateType // empty: not patched
	// InService is the new status of KruisePodReady with its keys; empty: not patched.
	InService string
	// Labels and finalizers of a hook.
	Labels     map[string]string
	Finalizers []string
}

// changed reads a patch and checks what holds for all: the state comes with
// the time of the change, a condition makes the patch conditional.
func changed(t *testing.T, p *podpatch.Patch) change {
	t.Helper()
	c := change{Finalizers: p.AddFinalizers}
	for key, value := range p.Labels {
		switch {
		case value == nil:
			t.Errorf("label %s is removed", key)
		case key == v1alpha1.StateLabel:
			c.State = v1alpha1.StateType(*value)
		default:
			if c.Labels == nil {
				c.Labels = map[string]string{}
			}
			c.Labels[key] = *value
		}
	}
	timestamp := ""
	if at := p.Annotations[v1alpha1.TimestampAnnotation]; at != nil {
		timestamp = *at
	}
	want := ""
	if c.State != "" {
		want = "2024-05-01T12:00:00+02:00"
	}
	if timestamp != want {
		t.Errorf("LC-4: state %q is set with the time %q, want %q", c.State, timestamp, want)
	}
	for _, condition := range p.Conditions {
		if condition.Type == v1alpha1.KruisePodReady {
			c.InService = string(condition.Status) + " " + condition.Message
			if !p.IfUnchanged {
				t.Error("a change of the shared condition must be conditional")
			}
		}
	}
	return c
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
