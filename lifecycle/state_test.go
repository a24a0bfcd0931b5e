// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestSetInitialState(t *testing.T) {
	t.Run("LC-5, LC-7: a new pod is created with its state", func(t *testing.T) {
		var pod corev1.Pod
		lifecycle.SetInitialState(&pod.ObjectMeta, v1alpha1.StatePreparingNormal, now)
		if got := lifecycle.StateOf(&pod); got != v1alpha1.StatePreparingNormal {
			t.Errorf("state %q", got)
		}
		if got := pod.Annotations[v1alpha1.TimestampAnnotation]; got != "2024-05-01T12:00:00+02:00" {
			t.Errorf("time %q", got)
		}
	})
	t.Run("LC-5: labels and annotations of the template stay", func(t *testing.T) {
		pod := newPod("-")
		pod.Annotations = map[string]string{"note": "x"}
		lifecycle.SetInitialState(&pod.ObjectMeta, v1alpha1.StateNormal, now)
		if pod.Labels["app"] != "web" || pod.Annotations["note"] != "x" || lifecycle.StateOf(pod) != v1alpha1.StateNormal {
			t.Errorf("metadata %+v", pod.ObjectMeta)
		}
	})
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
