// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	preparingNormal = v1alpha1.StatePreparingNormal
	normal          = v1alpha1.StateNormal
	preparingUpdate = v1alpha1.StatePreparingUpdate
	updating        = v1alpha1.StateUpdating
	updated         = v1alpha1.StateUpdated
	preparingDelete = v1alpha1.StatePreparingDelete

	deleteKey = `{"userAgent":"Lifecycle","key":"preDeleteHook"}`
	updateKey = `{"userAgent":"Lifecycle","key":"preUpdateHook"}`
	otherKey  = `{"userAgent":"ContainerRecreateRequest","key":"shop/restart"}`
)

var (
	now    = time.Date(2024, 5, 1, 12, 0, 0, 0, time.FixedZone("CEST", 2*60*60))
	before = now.Add(-time.Hour)
)

// option changes a pod of a test.
type option func(*corev1.Pod)

// newPod is an available pod without gates: Running, Ready for an hour.
func newPod(state v1alpha1.StateType, options ...option) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: "u", ResourceVersion: "7",
			Labels: map[string]string{"app": "web"},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(before)},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(before)},
		}},
	}
	if state != "" {
		pod.Labels[v1alpha1.StateLabel] = string(state)
		pod.Annotations = map[string]string{v1alpha1.TimestampAnnotation: "earlier"}
	}
	for _, o := range options {
		o(pod)
	}
	return pod
}

func label(key, value string) option {
	return func(pod *corev1.Pod) { pod.Labels[key] = value }
}

func finalizer(f string) option {
	return func(pod *corev1.Pod) { pod.Finalizers = append(pod.Finalizers, f) }
}

func condition(t corev1.PodConditionType, status corev1.ConditionStatus) option {
	return func(pod *corev1.Pod) {
		for i := range pod.Status.Conditions {
			if pod.Status.Conditions[i].Type == t {
				pod.Status.Conditions[i].Status = status
				return
			}
		}
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: status})
	}
}

// gate gives the pod the gate KruisePodReady, its condition True.
func gate(pod *corev1.Pod) {
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: v1alpha1.KruisePodReady}}
	condition(v1alpha1.KruisePodReady, corev1.ConditionTrue)(pod)
}

// outOfService gives the pod the gate and a condition with these keys.
func outOfService(keys string) option {
	return func(pod *corev1.Pod) {
		gate(pod)
		condition(corev1.PodReady, corev1.ConditionFalse)(pod)
		c := &pod.Status.Conditions[len(pod.Status.Conditions)-1]
		c.Status, c.Message = corev1.ConditionFalse, "["+keys+"]"
	}
}

// hook lists labels as "key", each with the value "true".
func hook(labels []string, finalizers ...string) *v1alpha1.LifecycleHook {
	h := &v1alpha1.LifecycleHook{FinalizersHandler: finalizers}
	for _, l := range labels {
		if h.LabelsHandler == nil {
			h.LabelsHandler = map[string]string{}
		}
		h.LabelsHandler[l] = "true"
	}
	return h
}

func markNotReady(h *v1alpha1.LifecycleHook) *v1alpha1.LifecycleHook {
	h = h.DeepCopy()
	h.MarkPodNotReady = true
	return h
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
