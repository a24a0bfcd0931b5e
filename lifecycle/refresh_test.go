// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestRefresh(t *testing.T) {
	var (
		open     = hook([]string{"a", "b"})
		noHooks  = &v1alpha1.Lifecycle{}
		update   = &v1alpha1.Lifecycle{InPlaceUpdate: open}
		create   = &v1alpha1.Lifecycle{PreNormal: open}
		marking  = &v1alpha1.Lifecycle{InPlaceUpdate: markNotReady(open)}
		empty    = &v1alpha1.Lifecycle{InPlaceUpdate: hook(nil), PreNormal: hook(nil)}
		target   = lifecycle.RefreshInput{AtTarget: true}
		complete = lifecycle.RefreshInput{InPlaceComplete: true}
		both     = lifecycle.RefreshInput{AtTarget: true, InPlaceComplete: true}
		neither  = lifecycle.RefreshInput{}

		met        = func(pod *corev1.Pod) { label("a", "true")(pod); label("b", "true")(pod) }
		half       = label("a", "true")
		notReady   = condition(corev1.PodReady, "False")
		toNormal   = change{State: normal}
		toUpdated  = change{State: updated}
		backNormal = change{State: normal, InService: "True []"}
	)
	tests := []struct {
		name string
		pod  *corev1.Pod
		l    *v1alpha1.Lifecycle
		in   lifecycle.RefreshInput
		want change
	}{
		{"LC-8: lifecycle nil", newPod(preparingNormal), nil, both, toNormal},
		{"LC-8: preNormal nil", newPod(preparingNormal), update, both, toNormal},
		{"LC-8: preNormal empty", newPod(preparingNormal), empty, both, toNormal},
		{"LC-8: preNormal met", newPod(preparingNormal, met), create, both, toNormal},
		{"LC-8: preNormal half met", newPod(preparingNormal, half), create, both, change{}},
		{"LC-8: readiness does not matter", newPod(preparingNormal, notReady), nil, neither, toNormal},
		{"LC-8: nor does the revision", newPod(preparingNormal), nil, neither, toNormal},

		{"LC-10: hook half met", newPod(preparingUpdate, half), update, target, toUpdated},
		{"LC-10: hook met", newPod(preparingUpdate, met), update, target, toNormal},
		{"LC-10: lifecycle nil", newPod(preparingUpdate), nil, target, toNormal},
		{"LC-10: hook nil, straight to Normal", newPod(preparingUpdate), noHooks, target, toNormal},
		{"LC-10: not at the target stays", newPod(preparingUpdate, met), update, complete, change{}},

		{"LC-11: not complete stays", newPod(updating, met), update, target, change{}},
		{"LC-11: hook half met", newPod(updating, half), update, both, toUpdated},
		{"LC-11: hook met", newPod(updating, met), update, both, toNormal},
		{"LC-11: complete at an older revision", newPod(updating, met), update, complete, toNormal},
		{"LC-11: lifecycle nil", newPod(updating), nil, both, toNormal},
		{"LC-11: hook nil, straight to Normal", newPod(updating), create, both, toNormal},
		{"LC-11: hook empty", newPod(updating), empty, both, toNormal},

		{"LC-12: lifecycle nil", newPod(updated), nil, neither, toNormal},
		{"LC-12: hook nil", newPod(updated), create, both, toNormal},
		{"LC-12: hook met", newPod(updated, met), update, both, toNormal},
		{"LC-12: hook half met stays", newPod(updated, half), update, both, change{}},
		{"LC-E2: two labels, one added, stays Updated", newPod(updated, half), update, both, change{}},

		{"LC-18 to LC-22: PreparingDelete stays", newPod(preparingDelete, met), update, both, change{}},
		{"settled: Normal", newPod(normal), update, both, change{}},
		{"settled: no state", newPod(""), update, both, change{}},
		{"settled: a state nobody knows", newPod("Odd"), update, both, change{}},
		{"LC-E5: preNormal open", newPod(preparingNormal), create, both, change{}},
		{"LC-E6: preNormal is not asked again after an update", newPod(updating), create, both, toNormal},
		{"LC-E8: preNormal added later", newPod(normal), create, both, change{}},
		{"LC-E10: hook removed, PreparingUpdate not at its target waits for BeginUpdate", newPod(preparingUpdate, half), noHooks, neither, change{}},

		{"LC-25: key removed on reaching Updated", newPod(updating, outOfService(updateKey)), marking, both, change{State: updated, InService: "True []"}},
		{"LC-25: key removed in Updated", newPod(updated, outOfService(updateKey)), marking, both, change{InService: "True []"}},
		{"LC-25: PreparingUpdate at its target", newPod(preparingUpdate, outOfService(updateKey)), marking, target, change{State: updated, InService: "True []"}},
		{"LC-25: removed although markPodNotReady was switched off", newPod(updating, outOfService(updateKey)), update, both, change{State: updated, InService: "True []"}},
		{"LC-25: stays while Updating", newPod(updating, outOfService(updateKey)), marking, target, change{}},
		{"LC-25: stays while PreparingUpdate", newPod(preparingUpdate, outOfService(updateKey)), marking, complete, change{}},
		{"LC-27: another writer's key stays", newPod(updating, outOfService(otherKey+","+updateKey)), marking, both, change{State: updated, InService: "False [" + otherKey + "]"}},
		{"LC-28: preDeleteHook is kept in PreparingDelete", newPod(preparingDelete, outOfService(deleteKey)), noHooks, both, change{}},
		{"LC-E11: rollback while PreparingUpdate, hook met, key removed", newPod(preparingUpdate, met, outOfService(updateKey)), marking, target, backNormal},
		{"LC-E11: Updating straight to Normal, key removed", newPod(updating, met, outOfService(updateKey)), marking, both, backNormal},
		{"LC-E11: a pod left behind in Normal is healed", newPod(normal, outOfService(updateKey)), marking, both, change{InService: "True []"}},
		{"LC-E11: a pod left behind without state is healed", newPod("", outOfService(updateKey+","+deleteKey)), nil, both, change{InService: "True []"}},
		{"LC-E11: of another writer nothing is healed", newPod(normal, outOfService(otherKey)), marking, both, change{}},
		{"LC-E19: no gate", newPod(updating, met, outOfService(updateKey), func(pod *corev1.Pod) { pod.Spec.ReadinessGates = nil }), marking, both, toNormal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			unchanged := tt.pod.DeepCopy()
			got := lifecycle.Refresh(&p, tt.pod, tt.l, tt.in, now)
			if diff := cmp.Diff(tt.want, changed(t, &p)); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			if want := !cmp.Equal(tt.want, change{}); got != want {
				t.Errorf("result: want %v, got %v", want, got)
			}
			if diff := cmp.Diff(unchanged, tt.pod); diff != "" {
				t.Errorf("the pod was changed:\n%s", diff)
			}
			after := apply(t, &p, tt.pod)
			if lifecycle.Refresh(&podpatch.Patch{}, after, tt.l, tt.in, now) {
				t.Errorf("refreshing again changes the pod in state %q", lifecycle.StateOf(after))
			}
		})
	}
}

func TestRefreshSettledCostsNothing(t *testing.T) {
	l := &v1alpha1.Lifecycle{PreDelete: hook([]string{"a"}), InPlaceUpdate: markNotReady(hook([]string{"a"}, "f"))}
	for name, pod := range map[string]*corev1.Pod{
		"Normal":                    newPod(normal, gate),
		"no state":                  newPod("", gate),
		"out of service by another": newPod(normal, outOfService(otherKey)),
	} {
		t.Run(name, func(t *testing.T) {
			var p podpatch.Patch
			if n := testing.AllocsPerRun(100, func() {
				lifecycle.Refresh(&p, pod, l, lifecycle.RefreshInput{AtTarget: true, InPlaceComplete: true}, now)
			}); n != 0 {
				t.Errorf("want no allocation, got %v", n)
			}
		})
	}
}
