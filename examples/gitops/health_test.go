// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"encoding/json"
	"testing"
	"time"

	customizations "github.com/argoproj/argo-cd/v3/resource_customizations"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

// health is what Argo CD shows for an object: the status that its own health check returns, or why that fails.
func health(t *testing.T, object *unstructured.Unstructured) (string, error) {
	t.Helper()
	script, err := customizations.Embedded.ReadFile("apps.kruise.io/" + object.GetKind() + "/health.lua")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	state := lua.NewState()
	defer state.Close()
	decoded, err := luajson.Decode(state, raw)
	if err != nil {
		t.Fatal(err)
	}
	state.SetGlobal("obj", decoded)
	if err := state.DoString(string(script)); err != nil {
		return "", err
	}
	return state.GetField(state.Get(-1), "status").String(), nil
}

// stored is an object as programs read it that know no more of its kind than the JSON.
func stored(t *testing.T, object any) *unstructured.Unstructured {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

// healthOf is what Argo CD shows for an object whose health check works.
func healthOf(t *testing.T, object any) string {
	t.Helper()
	u := stored(t, object)
	shown, err := health(t, u)
	if err != nil {
		t.Fatalf("the health check of %s fails: %v", u.GetKind(), err)
	}
	return shown
}

// current is what kstatus says of an object, and with it Flux and Helm.
func current(t *testing.T, object any) string {
	t.Helper()
	result, err := status.Compute(stored(t, object))
	if err != nil {
		t.Fatal(err)
	}
	return string(result.Status)
}

// reading is what programs make of an object at a moment of a story: Argo CD, and Flux and Helm, which ask kstatus.
type reading struct{ Moment, ArgoCD, Kstatus string }

// story is an object of which a test tells what becomes of it.
type story struct {
	*testing.T
	object func() any
	got    []reading
}

// show reads the object.
func (s *story) show(moment string) {
	s.Helper()
	s.got = append(s.got, reading{moment, healthOf(s.T, s.object()), current(s.T, s.object())})
}

// expect compares what was shown with what is expected.
func (s *story) expect(want ...reading) {
	s.Helper()
	if diff := cmp.Diff(want, s.got); diff != "" {
		s.Errorf("(-want +got):\n%s", diff)
	}
}

// starts has a pod run from now on. It is ready, unless its image is broken.
func starts(pod *corev1.Pod, now time.Time, broken string) {
	pod.CreationTimestamp, pod.Status.Phase = metav1.NewTime(now), corev1.PodRunning
	ready := corev1.ConditionTrue
	if pod.Spec.Containers[0].Image == broken {
		ready = corev1.ConditionFalse
	}
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: "InPlaceUpdateReady", Status: corev1.ConditionTrue}, {Type: "KruisePodReady", Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(now)},
	}
}
