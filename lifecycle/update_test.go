// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestBeginUpdate(t *testing.T) {
	var (
		mixed   = hook([]string{"a", "b"}, "f")
		l       = &v1alpha1.Lifecycle{InPlaceUpdate: mixed}
		marking = &v1alpha1.Lifecycle{InPlaceUpdate: markNotReady(mixed)}
		noHook  = &v1alpha1.Lifecycle{PreDelete: mixed, PreNormal: mixed}
		held    = label("a", "true")

		start  = change{State: updating}
		toHold = change{State: preparingUpdate}
		armed  = change{State: preparingUpdate, Labels: map[string]string{"a": "true", "b": "true"}, Finalizers: []string{"f"}}
		closed = "False [" + updateKey + "]"
	)
	const waitsA = `the inPlaceUpdate hook waits until the pod loses label "a=true"`
	tests := []struct {
		name   string
		pod    *corev1.Pod
		l      *v1alpha1.Lifecycle
		step   lifecycle.UpdateStep
		want   change
		reason string // contained in the reason; empty: no reason
	}{
		{"LC-9: Normal, held", newPod(normal, held), l, lifecycle.UpdateHold, toHold, waitsA},
		{"LC-9: no state, held", newPod("", held), l, lifecycle.UpdateHold, toHold, waitsA},
		{"LC-9: PreparingNormal, held", newPod(preparingNormal, held), l, lifecycle.UpdateHold, toHold, waitsA},
		{"LC-9: held by a finalizer and a label", newPod(normal, finalizer("f"), held), l, lifecycle.UpdateHold, toHold, `loses finalizer "f" and label "a=true"`},
		{"LC-9: Normal, not held", newPod(normal), l, lifecycle.UpdateStart, start, ""},
		{"LC-9: no state, not held", newPod(""), l, lifecycle.UpdateStart, start, ""},
		{"LC-9: lifecycle nil", newPod(normal, held), nil, lifecycle.UpdateStart, start, ""},
		{"LC-9: hook nil", newPod(normal, held), noHook, lifecycle.UpdateStart, start, ""},
		{"LC-9: PreparingUpdate, held, waits", newPod(preparingUpdate, held), l, lifecycle.UpdateHold, change{}, waitsA},
		{"LC-9: PreparingUpdate, released", newPod(preparingUpdate), l, lifecycle.UpdateStart, start, ""},
		{"LC-9: Updating, again with the newer revision", newPod(updating, held), l, lifecycle.UpdateStart, change{}, ""},
		{"LC-9: PreparingDelete is never updated", newPod(preparingDelete), l, lifecycle.UpdateNone, change{}, "PreparingDelete"},
		{"LC-3: half held blocks the update", newPod(normal, label("b", "true")), l, lifecycle.UpdateHold, toHold, `label "b=true"`},
		{"a state nobody knows", newPod("Odd"), l, lifecycle.UpdateNone, change{}, `unknown value "Odd"`},

		{"LC-17: Updated arms the hook again", newPod(updated), l, lifecycle.UpdateRearm, armed, "inPlaceUpdate hook"},
		{"LC-17: with markPodNotReady", newPod(updated, gate), marking, lifecycle.UpdateRearm,
			change{State: preparingUpdate, InService: closed, Labels: armed.Labels, Finalizers: armed.Finalizers}, "inPlaceUpdate hook"},
		{"LC-17: hook nil, nothing", newPod(updated), noHook, lifecycle.UpdateNone, change{}, "Updated"},
		{"LC-17: lifecycle nil, nothing", newPod(updated), nil, lifecycle.UpdateNone, change{}, "Updated"},

		{"LC-25: entering PreparingUpdate", newPod(normal, held, gate), marking, lifecycle.UpdateHold, change{State: preparingUpdate, InService: closed}, waitsA},
		{"LC-25: staying in PreparingUpdate", newPod(preparingUpdate, held, gate), marking, lifecycle.UpdateHold, change{InService: closed}, waitsA},
		{"LC-26: the key is there already", newPod(preparingUpdate, held, outOfService(updateKey)), marking, lifecycle.UpdateHold, change{}, waitsA},
		{"LC-26: beside another writer's key", newPod(normal, held, outOfService(otherKey)), marking, lifecycle.UpdateHold, change{State: preparingUpdate, InService: "False [" + otherKey + "," + updateKey + "]"}, waitsA},
		{"LC-25: an update that starts keeps the key", newPod(preparingUpdate, outOfService(updateKey)), marking, lifecycle.UpdateStart, start, ""},
		{"LC-E6: PreparingNormal with preNormal open can be updated", newPod(preparingNormal), noHook, lifecycle.UpdateStart, start, ""},
		{"LC-E10: hook removed while PreparingUpdate", newPod(preparingUpdate, held), noHook, lifecycle.UpdateStart, start, ""},
		{"LC-E18: state removed by a user", newPod("", held), noHook, lifecycle.UpdateStart, start, ""},
		{"LC-E19: markPodNotReady without the gate", newPod(normal, held), marking, lifecycle.UpdateHold, toHold, waitsA},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			step, reason := lifecycle.BeginUpdate(&p, tt.pod, tt.l, false, now)
			if step != tt.step {
				t.Errorf("step: want %v, got %v", tt.step, step)
			}
			if !strings.Contains(reason, tt.reason) || (reason == "") != (tt.reason == "") {
				t.Errorf("reason: want %q, got %q", tt.reason, reason)
			}
			if diff := cmp.Diff(tt.want, changed(t, &p)); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
		})
	}
}

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
