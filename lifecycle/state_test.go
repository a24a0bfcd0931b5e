// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestSetState(t *testing.T) {
	tests := []struct {
		name    string
		pod     *corev1.Pod
		patched v1alpha1.StateType // set in the patch before
		to      v1alpha1.StateType
		want    []string // the data of the requests
	}{
		{"LC-4: label and time in one patch", newPod(normal), "", preparingDelete,
			[]string{`{"metadata":{"annotations":{"lifecycle.apps.kruise.io/timestamp":"2024-05-01T12:00:00+02:00"},"labels":{"lifecycle.apps.kruise.io/state":"PreparingDelete"},"uid":"u"}}`}},
		{"LC-4: a pod without state", newPod(""), "", updating,
			[]string{`{"metadata":{"annotations":{"lifecycle.apps.kruise.io/timestamp":"2024-05-01T12:00:00+02:00"},"labels":{"lifecycle.apps.kruise.io/state":"Updating"},"uid":"u"}}`}},
		{"LC-4: the label stands, the time is kept", newPod(normal), "", normal, nil},
		{"LC-4: the state of the patch counts", newPod(normal), updating, preparingUpdate,
			[]string{`{"metadata":{"annotations":{"lifecycle.apps.kruise.io/timestamp":"2024-05-01T12:00:00+02:00"},"labels":{"lifecycle.apps.kruise.io/state":"PreparingUpdate"},"uid":"u"}}`}},
		{"LC-4: back to where the pod is", newPod(normal), updating, normal, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			if tt.patched != "" {
				lifecycle.SetState(&p, tt.pod, tt.patched, before)
			}
			lifecycle.SetState(&p, tt.pod, tt.to, now)
			writes, err := p.Writes(tt.pod)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range writes {
				got = append(got, w.Subresource+string(w.Data))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetInitialState(t *testing.T) {
	t.Run("LC-5, LC-7: a new pod is created with its state", func(t *testing.T) {
		var pod corev1.Pod
		lifecycle.SetInitialState(&pod.ObjectMeta, preparingNormal, now)
		if got := lifecycle.StateOf(&pod); got != preparingNormal {
			t.Errorf("state %q", got)
		}
		if got := pod.Annotations[v1alpha1.TimestampAnnotation]; got != "2024-05-01T12:00:00+02:00" {
			t.Errorf("time %q", got)
		}
	})
	t.Run("LC-5: labels and annotations of the template stay", func(t *testing.T) {
		pod := newPod("")
		pod.Annotations = map[string]string{"note": "x"}
		lifecycle.SetInitialState(&pod.ObjectMeta, normal, now)
		if pod.Labels["app"] != "web" || pod.Annotations["note"] != "x" || lifecycle.StateOf(pod) != normal {
			t.Errorf("metadata %+v", pod.ObjectMeta)
		}
	})
}

func TestAvailable(t *testing.T) {
	const inPlace = inplacev1alpha1.InPlaceUpdateReady
	phase := func(phase corev1.PodPhase) option { return func(pod *corev1.Pod) { pod.Status.Phase = phase } }
	tests := []struct {
		name      string
		pod       *corev1.Pod
		min       int32
		available bool
		wait      time.Duration
		waits     bool
		ready     bool
	}{
		{"LC-15: Normal", newPod(normal), 0, true, 0, true, true},
		{"LC-15: no state", newPod(""), 0, true, 0, true, true},
		{"LC-15: PreparingNormal", newPod(preparingNormal), 0, false, 0, false, true},
		{"LC-15: PreparingUpdate", newPod(preparingUpdate), 0, false, 0, false, true},
		{"LC-15: Updating", newPod(updating), 0, false, 0, false, true},
		{"LC-15: Updated", newPod(updated), 0, false, 0, false, true},
		{"LC-15: PreparingDelete", newPod(preparingDelete), 0, false, 0, false, true},
		{"LC-15: a state nobody knows", newPod("Odd"), 0, false, 0, false, true},
		{"LC-15: not Running", newPod(normal, phase(corev1.PodPending)), 0, false, 0, false, false},
		{"LC-15: not Ready", newPod(normal, condition(corev1.PodReady, "False")), 0, false, 0, false, false},
		{"LC-15: InPlaceUpdateReady False", newPod(normal, condition(inPlace, "False")), 0, false, 0, false, false},
		{"LC-15: InPlaceUpdateReady True", newPod(normal, condition(inPlace, "True")), 0, true, 0, true, true},
		{"LC-15: InPlaceUpdateReady Unknown is not False", newPod(normal, condition(inPlace, "Unknown")), 0, true, 0, true, true},
		{"LC-15: ready long enough", newPod(normal), 3600, true, 0, true, true},
		{"LC-15: not ready long enough", newPod(normal), 3610, false, 10 * time.Second, true, true},
		{"LC-E5: preNormal open, Ready but unavailable", newPod(preparingNormal), 0, false, 0, false, true},
		{"CS-E18: a label that only budgets read", newPod(normal, label("unavailable-pod.kruise.io/drain", "true")), 0, true, 0, true, true},
		{"LC-E18: state removed by a user", newPod(""), 3600, true, 0, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := lifecycle.Available(tt.pod, tt.min, now); got != tt.available {
				t.Errorf("Available: want %v, got %v", tt.available, got)
			}
			if wait, ok := lifecycle.AvailableIn(tt.pod, tt.min, now); wait != tt.wait || ok != tt.waits {
				t.Errorf("AvailableIn: want %v %v, got %v %v", tt.wait, tt.waits, wait, ok)
			}
			if got := lifecycle.Ready(tt.pod); got != tt.ready {
				t.Errorf("Ready: want %v, got %v", tt.ready, got)
			}
		})
	}
}

func TestUnschedulable(t *testing.T) {
	reported := func(reason string, status corev1.ConditionStatus) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.PodScheduled, Status: status, Reason: reason}}
	}
	for name, test := range map[string]struct {
		change func(pod *corev1.Pod)
		want   bool
	}{
		"it finds no node":          {func(*corev1.Pod) {}, true},
		"it is being deleted":       {func(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.Now()) }, false},
		"it has a node":             {func(pod *corev1.Pod) { pod.Spec.NodeName = "node" }, false},
		"it has failed":             {func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }, false},
		"nothing is reported":       {func(pod *corev1.Pod) { pod.Status.Conditions = nil }, false},
		"it waits for a gate":       {func(pod *corev1.Pod) { pod.Status.Conditions = reported("SchedulingGated", "False") }, false},
		"it is reported to have it": {func(pod *corev1.Pod) { pod.Status.Conditions = reported("Unschedulable", "True") }, false},
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: reported("Unschedulable", "False")}}
		test.change(pod)
		if got := lifecycle.Unschedulable(pod); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
