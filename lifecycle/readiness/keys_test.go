// SPDX-License-Identifier: Apache-2.0

package readiness_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var (
	now    = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	before = now.Add(-time.Hour)
)

const (
	keyA  = `{"userAgent":"ContainerRecreateRequest","key":"shop/restart"}`
	keyB  = `{"userAgent":"Lifecycle","key":"preDeleteHook"}`
	keyC  = `{"userAgent":"Lifecycle","key":"preUpdateHook"}`
	other = `{"userAgent":"Other","key":"preUpdateHook"}`
)

var lifecycleC = readiness.Key{UserAgent: "Lifecycle", Key: "preUpdateHook"}

// gated is a pod in service with the gate and the given KruisePodReady
// condition; no condition if status is "-".
func gated(status corev1.ConditionStatus, message string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", ResourceVersion: "7"},
		Spec:       gates(v1alpha1.KruisePodReady),
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(before)},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(before)},
		}},
	}
	if status != "-" {
		pod.Status.Conditions = append(pod.Status.Conditions, kruisePodReady(status, message, before))
	}
	return pod
}

func ungated(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.ReadinessGates = nil
	return pod
}

func kruisePodReady(status corev1.ConditionStatus, message string, at time.Time) corev1.PodCondition {
	return corev1.PodCondition{Type: v1alpha1.KruisePodReady, Status: status, Message: message, LastTransitionTime: metav1.NewTime(at)}
}

// change is what the patch does to KruisePodReady and Ready.
type change struct {
	Status    corev1.ConditionStatus // of KruisePodReady; empty: not patched
	Message   string
	Withdrawn bool // Ready is set to False
}

func changed(t *testing.T, p *podpatch.Patch, got bool) change {
	t.Helper()
	var c change
	for _, condition := range p.Conditions {
		if !condition.LastTransitionTime.Time.Equal(now) {
			t.Errorf("condition %s: want the time now, got %v", condition.Type, condition.LastTransitionTime)
		}
		switch condition.Type {
		case v1alpha1.KruisePodReady:
			c.Status, c.Message = condition.Status, condition.Message
			if condition.Reason != "" {
				t.Errorf("KruisePodReady never has a reason, got %q", condition.Reason)
			}
		case corev1.PodReady:
			c.Withdrawn = condition.Status == corev1.ConditionFalse
		}
	}
	any := len(p.Conditions) > 0
	if got != any {
		t.Errorf("patch changed: %v; want the result to say the same, got %v", any, got)
	}
	return c
}

// conditional checks that a patch is refused when the pod has changed.
func conditional(t *testing.T, p *podpatch.Patch, want bool) {
	t.Helper()
	if p.IfUnchanged != want {
		t.Errorf("IfUnchanged is %v, want %v", p.IfUnchanged, want)
	}
}

func TestAdd(t *testing.T) {
	closed := func(message string) change { return change{"False", message, true} }
	containersDown := gated("True", "")
	containersDown.Status.Conditions[1].Status = corev1.ConditionFalse
	tests := []struct {
		name string
		pod  *corev1.Pod
		want change
	}{
		{"PR-4: no gate", ungated(gated("True", "")), change{}},
		{"PR-4: listed and in force", gated("False", "["+keyC+"]"), change{}},
		{"PR-5: condition missing", gated("-", ""), closed("[" + keyC + "]")},
		{"PR-5: first key", gated("True", ""), closed("[" + keyC + "]")},
		{"PR-5: first key after the last was removed", gated("True", "[]"), closed("[" + keyC + "]")},
		{"PR-5: sorted by userAgent, then key", gated("False", "["+other+","+keyB+","+keyA+"]"), closed("[" + keyA + "," + keyB + "," + keyC + "," + other + "]")},
		{"PR-5: listed, but somebody set True", gated("True", "["+keyC+"]"), closed("[" + keyC + "]")},
		{"PR-5: status empty, as OpenKruise 1.4 leaves it, and listed", gated("", "["+keyC+"]"), change{}},
		{"PR-E3: once listed twice, now once", gated("False", "["+keyB+","+keyB+"]"), closed("[" + keyB + "," + keyC + "]")},
		{"PR-E4: message is no JSON", gated("False", "closed by hand"), closed("[" + keyC + "]")},
		{"PR-E4: message is other JSON", gated("True", `{"userAgent":"x"}`), closed("[" + keyC + "]")},
		{"PR-E4: message is partly a list of keys", gated("True", `[`+keyA+`,5]`), closed("[" + keyC + "]")},
		{"PR-E5: False by hand, no message", gated("False", ""), closed("[" + keyC + "]")},
		{"PR-E9: ContainersReady False", containersDown, change{"False", "[" + keyC + "]", false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			unchanged := tt.pod.DeepCopy()
			got := readiness.Add(&p, tt.pod, lifecycleC, now)
			if diff := cmp.Diff(tt.want, changed(t, &p, got)); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			conditional(t, &p, got)
			if diff := cmp.Diff(unchanged, tt.pod); diff != "" {
				t.Errorf("the pod was changed:\n%s", diff)
			}
			after := apply(t, &p, tt.pod)
			if readiness.Add(&podpatch.Patch{}, after, lifecycleC, now) {
				t.Error("PR-E3: adding the key again changes something")
			}
		})
	}
}

func TestRemove(t *testing.T) {
	tests := []struct {
		name string
		pod  *corev1.Pod
		want change
	}{
		{"PR-8: no gate", ungated(gated("False", "["+keyC+"]")), change{}},
		{"PR-8: no condition", gated("-", ""), change{}},
		{"PR-8: not listed", gated("False", "["+keyB+"]"), change{}},
		{"PR-8: key of another writer", gated("False", "["+other+"]"), change{}},
		{"PR-8: message empty", gated("False", ""), change{}},
		{"PR-9: the last key", gated("False", "["+keyC+"]"), change{Status: "True", Message: "[]"}},
		{"PR-9: another key stays", gated("False", "["+keyA+","+keyC+"]"), change{Status: "False", Message: "[" + keyA + "]"}},
		{"PR-9: listed twice", gated("False", "["+keyC+","+keyC+"]"), change{Status: "True", Message: "[]"}},
		{"PR-9: empty status counts as False", gated("", "["+keyA+","+keyC+"]"), change{Status: "False", Message: "[" + keyA + "]"}},
		{"PR-9: status unchanged where somebody set True", gated("True", "["+keyA+","+keyC+"]"), change{Status: "True", Message: "[" + keyA + "]"}},
		{"PR-E4: message is no JSON", gated("False", "preUpdateHook?"), change{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			got := readiness.Remove(&p, tt.pod, lifecycleC, now)
			// PR-10: Ready is not recomputed, so Withdrawn is never true.
			if diff := cmp.Diff(tt.want, changed(t, &p, got)); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			conditional(t, &p, got)
			after := apply(t, &p, tt.pod)
			if readiness.Remove(&podpatch.Patch{}, after, lifecycleC, now) {
				t.Error("removing the key again changes something")
			}
		})
	}
}

// PR-10 and PR-E2: the pod is back when the last of two keys is gone, and
// its Ready condition waits for the kubelet.
func TestTwoWriters(t *testing.T) {
	first, second := readiness.Key{UserAgent: "ContainerRecreateRequest", Key: "shop/a"}, readiness.Key{UserAgent: "ContainerRecreateRequest", Key: "shop/b"}
	pod := gated("True", "")
	step := func(f func(*podpatch.Patch, *corev1.Pod, readiness.Key, time.Time) bool, key readiness.Key, want corev1.ConditionStatus) {
		t.Helper()
		var p podpatch.Patch
		f(&p, pod, key, now)
		pod = apply(t, &p, pod)
		if got := readiness.Condition(pod, v1alpha1.KruisePodReady).Status; got != want {
			t.Errorf("KruisePodReady: want %s, got %s", want, got)
		}
		if readiness.Ready(pod) {
			t.Error("PR-10: Ready is for the kubelet to restore")
		}
	}
	step(readiness.Add, first, "False")
	step(readiness.Add, second, "False")
	step(readiness.Remove, first, "False")
	step(readiness.Remove, second, "True")
	if diff := cmp.Diff([]readiness.Key(nil), readiness.Keys(pod)); diff != "" {
		t.Errorf("keys left:\n%s", diff)
	}
}

// PR-E5: a condition set to False by hand becomes True with the last key.
func TestFalseByHand(t *testing.T) {
	pod := gated("False", "")
	var add, remove podpatch.Patch
	readiness.Add(&add, pod, lifecycleC, now)
	pod = apply(t, &add, pod)
	readiness.Remove(&remove, pod, lifecycleC, now)
	if got := apply(t, &remove, pod); readiness.Condition(got, v1alpha1.KruisePodReady).Status != corev1.ConditionTrue {
		t.Error("want KruisePodReady True after the only key was removed")
	}
}

// Two rules that share a patch see each other's keys.
func TestOnePatch(t *testing.T) {
	pod := gated("True", "")
	var p podpatch.Patch
	readiness.Add(&p, pod, readiness.Key{UserAgent: "Lifecycle", Key: "preDeleteHook"}, now)
	readiness.Add(&p, pod, lifecycleC, now)
	if got, want := p.Condition(pod, v1alpha1.KruisePodReady).Message, "["+keyB+","+keyC+"]"; got != want {
		t.Errorf("message:\nwant %s\ngot  %s", want, got)
	}
	readiness.Remove(&p, pod, lifecycleC, now)
	if got, want := p.Condition(pod, v1alpha1.KruisePodReady).Message, "["+keyB+"]"; got != want {
		t.Errorf("message:\nwant %s\ngot  %s", want, got)
	}
}

// PR-7: the change is one request to the status endpoint, refused by the API
// server when another writer was faster.
func TestOneConditionalWrite(t *testing.T) {
	var p podpatch.Patch
	pod := gated("True", "")
	readiness.Add(&p, pod, readiness.Key{UserAgent: "a<b", Key: `c"d`}, now)
	writes, err := p.Writes(pod)
	if err != nil {
		t.Fatal(err)
	}
	want := []podpatch.Write{{Subresource: "status", Data: []byte(`{"metadata":{"resourceVersion":"7","uid":"u"},"status":{"conditions":[` +
		`{"type":"KruisePodReady","status":"False","reason":null,"message":"[{\"userAgent\":\"a\\u003cb\",\"key\":\"c\\\"d\"}]","lastTransitionTime":"2024-05-01T12:00:00Z"},` +
		`{"type":"Ready","status":"False","reason":"ReadinessGatesNotReady","message":"the status of pod readiness gate \"KruisePodReady\" is not \"True\", but False","lastTransitionTime":"2024-05-01T12:00:00Z"}]}}`)}}
	if diff := cmp.Diff(want, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	// Characters that the encoding escapes do not hide a key from Remove.
	if !readiness.Remove(&podpatch.Patch{}, apply(t, &p, pod), readiness.Key{UserAgent: "a<b", Key: `c"d`}, now) {
		t.Error("Remove does not find the key")
	}
}

func TestInitial(t *testing.T) {
	terminating := gated("-", "")
	deleted := metav1.NewTime(now)
	terminating.DeletionTimestamp = &deleted
	running := gated("-", "")
	running.Status.Phase = corev1.PodRunning
	tests := []struct {
		name string
		pod  *corev1.Pod
		want change
	}{
		{"PR-3: condition missing", gated("-", ""), change{Status: "True"}},
		{"PR-3: condition missing, others may write it", running, change{Status: "True"}},
		{"PR-3: True stays", gated("True", ""), change{}},
		{"PR-3: False stays", gated("False", "["+keyA+"]"), change{}},
		{"PR-3: no gate", ungated(gated("-", "")), change{}},
		{"PR-E6: terminating", terminating, change{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p podpatch.Patch
			got := readiness.Initial(&p, tt.pod, now)
			if diff := cmp.Diff(tt.want, changed(t, &p, got)); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			conditional(t, &p, got && tt.pod.Status.Phase == corev1.PodRunning)
		})
	}
}

func apply(t *testing.T, p *podpatch.Patch, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	after, err := p.Apply(pod)
	if err != nil {
		t.Fatal(err)
	}
	return after
}
