// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// numbers are current, desired and allowed.
func numbers(s *v1alpha1.PodUnavailableBudgetStatus) string {
	return fmt.Sprintf("%d available, %d desired, %d allowed", s.CurrentAvailable, s.DesiredAvailable, s.UnavailableAllowed)
}

func compute(t *testing.T, b *v1alpha1.PodUnavailableBudget, s budget.Selection, now time.Time) *budget.Result {
	t.Helper()
	r, err := budget.Compute(b, s, now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What protects nothing has no numbers, and what cannot be read no status. (PUB-6, PUB-13)
func TestNoNumbers(t *testing.T) {
	r := compute(t, newBudget(minAvailable("3")), budget.Selection{Unprotected: true}, start)
	if got := numbers(&r.Status); got != "0 available, 0 desired, 0 allowed" {
		t.Errorf("PUB-13: scaled to 0: %s", got)
	}
	for value, want := range map[string]string{"x": "spec.maxUnavailable", "-1%": "spec.maxUnavailable", "1.5%": "spec.maxUnavailable", "99999999999%": "spec.maxUnavailable"} {
		if _, err := budget.Desired(newBudget(maxUnavailable(value)), 10); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), value) {
			t.Errorf("%s: got %v", value, err)
		}
	}
	if _, err := budget.Compute(&v1alpha1.PodUnavailableBudget{}, budget.Selection{}, start); err == nil {
		t.Error("a budget that says nothing has a status")
	}
}

// TestEqual: every field of a status counts; times by the second, and of conditions not since when.
func TestEqual(t *testing.T) {
	at := func(seconds int) metav1.Time { return metav1.NewTime(after(seconds)) }
	whole := func() *v1alpha1.PodUnavailableBudgetStatus {
		return &v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, UnavailableAllowed: 1, CurrentAvailable: 1, DesiredAvailable: 1, TotalReplicas: 1,
			DisruptedPods: map[string]metav1.Time{"a": at(0)}, UnavailablePods: map[string]metav1.Time{"b": at(0)}, BookedSince: map[string]metav1.Time{"a": at(0)},
			PodUIDs: map[string]types.UID{"a": "uid"}, Conditions: []metav1.Condition{{Type: "A", Status: metav1.ConditionTrue}}}
	}
	for name, change := range map[string]func(*v1alpha1.PodUnavailableBudgetStatus){
		"observedGeneration": func(s *v1alpha1.PodUnavailableBudgetStatus) { s.ObservedGeneration++ },
		"unavailableAllowed": func(s *v1alpha1.PodUnavailableBudgetStatus) { s.UnavailableAllowed++ },
		"currentAvailable":   func(s *v1alpha1.PodUnavailableBudgetStatus) { s.CurrentAvailable++ },
		"desiredAvailable":   func(s *v1alpha1.PodUnavailableBudgetStatus) { s.DesiredAvailable++ },
		"totalReplicas":      func(s *v1alpha1.PodUnavailableBudgetStatus) { s.TotalReplicas++ },
		"disruptedPods":      func(s *v1alpha1.PodUnavailableBudgetStatus) { s.DisruptedPods["a"] = at(1) },
		"unavailablePods":    func(s *v1alpha1.PodUnavailableBudgetStatus) { s.UnavailablePods["b"] = at(1) },
		"bookedSince":        func(s *v1alpha1.PodUnavailableBudgetStatus) { s.BookedSince["a"] = at(1) },
		"podUIDs":            func(s *v1alpha1.PodUnavailableBudgetStatus) { s.PodUIDs["a"] = "other" },
		"conditions":         func(s *v1alpha1.PodUnavailableBudgetStatus) { s.Conditions[0].Status = metav1.ConditionFalse },
		"fewer conditions":   func(s *v1alpha1.PodUnavailableBudgetStatus) { s.Conditions = nil },
	} {
		changed := whole()
		change(changed)
		if budget.Equal(whole(), changed) || budget.Equal(changed, whole()) {
			t.Errorf("%s does not count", name)
		}
	}
	same := whole()
	same.DisruptedPods["a"], same.Conditions[0].LastTransitionTime = metav1.NewTime(after(0).Add(time.Millisecond)), at(5)
	if !budget.Equal(whole(), same) {
		t.Error("parts of a second count, or since when conditions hold")
	}
}

// TestUnknownNames: as many workloads are named as a message holds, and the others are counted. (PUB-23)
func TestUnknownNames(t *testing.T) {
	few := budget.Unknown(newBudget(), budget.Selection{Unknown: []string{"X a"}})
	if !strings.Contains(few, "how many pods X a wants") {
		t.Errorf("PUB-23: %s", few)
	}
	names := strings.Split(strings.Repeat("X a,", 100), ",")[:100]
	most := strings.Count(budget.Unknown(newBudget(), budget.Selection{Unknown: names}), "X a")
	for n, want := range map[int]string{most: "X a wants", most + 1: " and 1 more wants", 100: fmt.Sprintf(" and %d more wants", 100-most)} {
		if got := budget.Unknown(newBudget(), budget.Selection{Unknown: names[:n]}); !strings.Contains(got, want) {
			t.Errorf("PUB-23: of %d: %s, want %q", n, got, want)
		}
	}
}

// TestElsewhere: the condition names the first pod that belongs to another budget, and that budget. (PUB-20)
func TestElsewhere(t *testing.T) {
	pods := newPods(2, annotate(v1alpha1.RelatedPubAnnotation, "other"))
	r := compute(t, newBudget(), budget.Selection{Elsewhere: pods[:1], Total: 1}, start)
	if c := r.Status.Conditions; len(c) != 1 || !strings.Contains(c[0].Message, "pods such as pod-0 belong to PodUnavailableBudget other") {
		t.Errorf("PUB-20: conditions %+v", c)
	}
	r = compute(t, newBudget(), budget.Selection{Elsewhere: pods, Total: 1}, start)
	if c := r.Status.Conditions; len(c) != 1 || !strings.Contains(c[0].Message, "pods such as pod-0 ") {
		t.Errorf("PUB-20: conditions %+v", c)
	}
}

// A pod whose container was restarted by an update in place is not available until the kubelet has asked its startup probe. The
// budget is counted anew then. (PUB-45)
func TestComputeStarting(t *testing.T) {
	probed := func(pod *corev1.Pod) {
		c, s := &pod.Spec.Containers[0], &pod.Status.ContainerStatuses[0]
		c.StartupProbe = &corev1.Probe{PeriodSeconds: 10}
		s.Started, s.ContainerID, s.State.Running = ptr.To(true), "r://2", &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(start)}
		s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ContainerID: "r://1"}
	}
	const last = `"lastContainerStatuses":{"main":{"imageID":"nginx@sha256:00"}},"lastContainers":{"main":{"containerID":"r://1","images":["nginx:0"]}}`
	byWorkload := annotate("apps.kruise.io/inplace-update-state", `{"revision":"web-2",`+last+`}`)
	bySidecarSet := annotate("kruise.io/sidecarset-inplace-update-state", `{"log":{`+last+`}}`)
	injected := annotate("kruise.io/sidecarset-injected-list", "log")
	crashed := func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].LastTerminationState.Terminated.ContainerID = "r://1a"
	}
	for _, tt := range []struct {
		name    string
		changes []func(*corev1.Pod)
		at      int
		want    string
	}{
		{"by its workload", []func(*corev1.Pod){probed, byWorkload}, 1, "9 available, 0 allowed, again in 14.000000001s"},
		{"asked", []func(*corev1.Pod){probed, byWorkload}, 15, "10 available, 1 allowed, again in 0s"},
		{"by a SidecarSet", []func(*corev1.Pod){probed, bySidecarSet, injected}, 1, "9 available, 0 allowed, again in 14.000000001s"},
		{"by one that is not injected", []func(*corev1.Pod){probed, bySidecarSet}, 1, "10 available, 1 allowed, again in 0s"},
		{"by itself", []func(*corev1.Pod){probed, byWorkload, crashed}, 1, "10 available, 1 allowed, again in 0s"},
		{"without a probe", []func(*corev1.Pod){probed, byWorkload, func(pod *corev1.Pod) { pod.Spec.Containers[0].StartupProbe = nil }}, 1, "10 available, 1 allowed, again in 0s"},
	} {
		t.Run("PUB-45: restarted "+tt.name, func(t *testing.T) {
			pods := append(newPods(9), newPod("starting", tt.changes...))
			r, err := budget.Compute(newBudget(), budget.Selection{Pods: pods, Total: 10}, after(tt.at))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d available, %d allowed, again in %s", r.Status.CurrentAvailable, r.Status.UnavailableAllowed, r.RequeueAfter); got != tt.want {
				t.Errorf("got %s, want %s (%v)", got, tt.want, r.Unavailable)
			}
			for _, may := range []bool{false, true} {
				b := newBudget(status(func(s *v1alpha1.PodUnavailableBudgetStatus) { s.UnavailableAllowed = 0 }))
				if d := budget.Decide(b, pods[9], budget.Request{Operation: v1alpha1.PubDeleteOperation, InconsistentMayGo: may, Now: after(tt.at)}); d.Allowed {
					t.Errorf("it may go: %s", d.Reason)
				}
			}
		})
	}
}
