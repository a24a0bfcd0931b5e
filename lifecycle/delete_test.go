// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestBeginDelete(t *testing.T) {
	var (
		two     = hook([]string{"a", "b"})
		l       = &v1alpha1.Lifecycle{PreDelete: two}
		marking = &v1alpha1.Lifecycle{PreDelete: markNotReady(two)}
		byFin   = &v1alpha1.Lifecycle{PreDelete: hook(nil, "f")}
		held    = label("a", "true")
		toHold  = change{State: preparingDelete}
		closed  = "False [" + deleteKey + "]"
	)
	const waits = `the preDelete hook waits until the pod loses label "a=true"`
	tests := []struct {
		name   string
		pod    *corev1.Pod
		l      *v1alpha1.Lifecycle
		delete bool
		want   change
		reason string
	}{
		{"LC-13: held", newPod(normal, held), l, false, toHold, waits},
		{"LC-13: no state, held", newPod("", held), l, false, toHold, waits},
		{"LC-13: Updating, held", newPod(updating, held), l, false, toHold, waits},
		{"LC-13: not held", newPod(normal), l, true, change{}, ""},
		{"LC-13: lifecycle nil", newPod(normal, held), nil, true, change{}, ""},
		{"LC-13: hook nil", newPod(normal, held), &v1alpha1.Lifecycle{InPlaceUpdate: two}, true, change{}, ""},
		{"LC-13: hook empty", newPod(normal, held), &v1alpha1.Lifecycle{PreDelete: hook(nil)}, true, change{}, ""},
		{"LC-13: PreparingDelete, still held", newPod(preparingDelete, held), l, false, change{}, waits},
		{"LC-13: PreparingDelete, released", newPod(preparingDelete), l, true, change{}, ""},
		{"LC-E1: two labels, one removed", newPod(preparingDelete, label("b", "true")), l, false, change{}, `label "b=true"`},
		{"LC-E7: PreparingNormal, held", newPod(preparingNormal, held), l, false, toHold, waits},
		{"LC-E7: PreparingNormal, not held", newPod(preparingNormal), l, true, change{}, ""},
		{"LC-E9: hook removed", newPod(preparingDelete, held), &v1alpha1.Lifecycle{}, true, change{}, ""},
		{"LC-E14: deleted by a user", newPod(normal, held, terminating), l, false, change{}, "being deleted already"},
		{"LC-E15: deleted, finalizer left", newPod(preparingDelete, finalizer("f"), terminating), byFin, false, change{}, "being deleted already"},
		{"LC-13: held by a finalizer", newPod(normal, finalizer("f")), byFin, false, toHold, `loses finalizer "f"`},
		{"LC-25, PR-14: entering PreparingDelete", newPod(normal, held, gate), marking, false, change{State: preparingDelete, InService: closed}, waits},
		{"LC-25, PR-15: staying in PreparingDelete", newPod(preparingDelete, held, gate), marking, false, change{InService: closed}, waits},
		{"LC-26: the key is there already", newPod(preparingDelete, held, outOfService(deleteKey)), marking, false, change{}, waits},
		{"LC-26: beside preUpdateHook", newPod(preparingUpdate, held, outOfService(updateKey)), marking, false, change{State: preparingDelete, InService: "False [" + deleteKey + "," + updateKey + "]"}, waits},
		{"LC-28: the key is not removed on deletion", newPod(preparingDelete, outOfService(deleteKey)), marking, true, change{}, ""},
		{"LC-E19: no gate", newPod(normal, held), marking, false, toHold, waits},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			now, reason := lifecycle.BeginDelete(&p, tt.pod, tt.l, now)
			if now != tt.delete {
				t.Errorf("delete now: want %v, got %v", tt.delete, now)
			}
			if !strings.Contains(reason, tt.reason) || (reason == "") != (tt.reason == "") {
				t.Errorf("reason: want %q, got %q", tt.reason, reason)
			}
			if diff := cmp.Diff(tt.want, changed(t, &p)); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			apply(t, &p, tt.pod)
		})
	}
}

func TestCancelDelete(t *testing.T) {
	var (
		plain     = &v1alpha1.Lifecycle{PreDelete: hook([]string{"a"}), InPlaceUpdate: hook([]string{"b"})}
		marking   = &v1alpha1.Lifecycle{PreDelete: markNotReady(hook([]string{"a"}))}
		updates   = &v1alpha1.Lifecycle{PreDelete: hook([]string{"a"}), InPlaceUpdate: markNotReady(hook([]string{"b"}))}
		specified = label(v1alpha1.SpecifiedDeleteLabel, "")
		back      = change{State: preparingNormal}
	)
	tests := []struct {
		name string
		pod  *corev1.Pod
		l    *v1alpha1.Lifecycle
		want change
	}{
		{"LC-14: PreparingDelete, held", newPod(preparingDelete, label("a", "true")), plain, back},
		{"LC-14: lifecycle nil", newPod(preparingDelete), nil, back},
		{"LC-14: specified-delete is skipped", newPod(preparingDelete, specified), plain, change{}},
		{"LC-14: not in another state", newPod(normal), plain, change{}},
		{"LC-14: not when being deleted", newPod(preparingDelete, terminating), plain, change{}},
		{"LC-14: markPodNotReady on preDelete", newPod(preparingDelete), marking, change{}},
		{"LC-E12: markPodNotReady on inPlaceUpdate only", newPod(preparingDelete), updates, change{}},
		{"LC-14: markPodNotReady switched off meanwhile, key removed", newPod(preparingDelete, outOfService(deleteKey)), plain, change{State: preparingNormal, InService: "True []"}},
		{"LC-14: keys of both hooks removed, others kept", newPod(preparingDelete, outOfService(otherKey+","+deleteKey+","+updateKey)), plain, change{State: preparingNormal, InService: "False [" + otherKey + "]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			got := lifecycle.CancelDelete(&p, tt.pod, tt.l, now)
			if want := tt.want.State != ""; got != want {
				t.Errorf("want %v, got %v", want, got)
			}
			if diff := cmp.Diff(tt.want, changed(t, &p)); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			if !got {
				return
			}
			pod := apply(t, &p, tt.pod)
			var refresh podpatch.Patch
			lifecycle.Refresh(&refresh, pod, tt.l, lifecycle.RefreshInput{}, now)
			if lifecycle.StateOf(apply(t, &refresh, pod)) != normal {
				t.Error("LC-14: the pod reaches Normal through LC-8")
			}
		})
	}
}

func TestCancelNeeded(t *testing.T) {
	tests := []struct {
		name                             string
		replicas, owned, specified, want int
	}{
		{"LC-14: 3 to 2 with one PreparingDelete, then 3 again", 3, 3, 1, 1},
		{"LC-14: still 2", 2, 3, 1, 0},
		{"LC-14: the one was named in podsToDelete (CancelDelete skips it)", 3, 3, 1, 1},
		{"LC-E13: PreparingDelete counts as owned, also beside its replacement", 3, 4, 1, 0},
		{"never negative", 0, 5, 2, 0},
		{"all of them", 5, 5, 5, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := lifecycle.CancelNeeded(tt.replicas, tt.owned, tt.specified); got != tt.want {
				t.Errorf("want %d, got %d", tt.want, got)
			}
		})
	}
}
