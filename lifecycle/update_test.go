// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestBeginUpdateAtTarget(t *testing.T) {
	for _, state := range []v1alpha1.StateType{"", preparingNormal, normal, preparingUpdate, updating, updated, preparingDelete} {
		var p podpatch.Patch
		pod := newPod(state, label("a", "true"))
		step, reason := lifecycle.BeginUpdate(&p, pod, &v1alpha1.Lifecycle{InPlaceUpdate: hook([]string{"a"})}, true, now)
		if step != lifecycle.UpdateNone || reason == "" || !cmp.Equal(changed(t, &p), change{}) {
			t.Errorf("state %q: a pod at its revision is not updated, got %v %q", state, step, reason)
		}
	}
}

// LC-17: after the hook is armed again, the pod is held, then updated.
func TestRearm(t *testing.T) {
	l := &v1alpha1.Lifecycle{InPlaceUpdate: hook([]string{"a"}, "f")}
	pod := newPod(updated, finalizer("own"))
	var p podpatch.Patch
	lifecycle.BeginUpdate(&p, pod, l, false, now)
	pod = apply(t, &p, pod)
	slices.Sort(pod.Finalizers)
	if diff := cmp.Diff([]string{"f", "own"}, pod.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if step, _ := lifecycle.BeginUpdate(&podpatch.Patch{}, pod, l, false, now); step != lifecycle.UpdateHold {
		t.Errorf("want the pod held, got %v", step)
	}
	delete(pod.Labels, "a")
	pod.Finalizers = []string{"own"}
	if step, _ := lifecycle.BeginUpdate(&podpatch.Patch{}, pod, l, false, now); step != lifecycle.UpdateStart {
		t.Errorf("want the update to start, got %v", step)
	}
}

// Refresh and BeginUpdate may share a patch.
func TestRefreshThenUpdate(t *testing.T) {
	l := &v1alpha1.Lifecycle{InPlaceUpdate: hook([]string{"a"})}
	pod := newPod(updated, label("a", "true"))
	var p podpatch.Patch
	lifecycle.Refresh(&p, pod, l, lifecycle.RefreshInput{InPlaceComplete: true}, now)
	step, _ := lifecycle.BeginUpdate(&p, pod, l, false, now)
	if step != lifecycle.UpdateHold {
		t.Errorf("want Hold, got %v", step)
	}
	if diff := cmp.Diff(change{State: preparingUpdate}, changed(t, &p)); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
}

func TestUpdateStepString(t *testing.T) {
	for step, want := range map[lifecycle.UpdateStep]string{
		lifecycle.UpdateNone: "None", lifecycle.UpdateStart: "Start", lifecycle.UpdateHold: "Hold", lifecycle.UpdateRearm: "Rearm", 9: "UpdateStep(9)",
	} {
		if got := step.String(); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}
