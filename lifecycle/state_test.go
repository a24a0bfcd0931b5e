// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
)

func TestUpdateStepString(t *testing.T) {
	for step, want := range map[lifecycle.UpdateStep]string{
		lifecycle.UpdateNone: "None", lifecycle.UpdateStart: "Start", lifecycle.UpdateHold: "Hold", lifecycle.UpdateRearm: "Rearm", 9: "UpdateStep(9)",
	} {
		if got := step.String(); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestRefreshSettledCostsNothing(t *testing.T) {
	l := lifecycleOf(t, `{preDelete: {labelsHandler: {a: "true"}}, inPlaceUpdate: {labelsHandler: {a: "true"}, finalizersHandler: [f], markPodNotReady: true}}`)
	for name, pod := range map[string]*corev1.Pod{
		"Normal":                    newPod("Normal", "gate"),
		"no state":                  newPod("-", "gate"),
		"out of service by another": newPod("Normal", "out="+otherKey),
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
