// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/scenario"
)

// TestSidecarFirst: IP-33. A pod is not updated in place while a SidecarSet updates it, for 5
// minutes at most. Its turn stays its own: no other pod is updated in its place.
func TestSidecarFirst(t *testing.T) {
	w := newScenario(t)
	w.Spec(strings.Fields("replicas=2 type=InPlaceIfPossible maxUnavailable=1")...)
	w.settle()
	first := w.Pods[0].Name
	w.Edit(first, func(pod *corev1.Pod) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "log", Image: "log:1"})
	})
	w.settle()
	w.Spec("image=nginx:2")
	w.Edit(first, func(pod *corev1.Pod) { scenario.UpdateSidecar(t, pod, "log", "log:2", w.Now) })

	// updates returns the pods whose update begins now, and says what the first one waits for.
	updates := func() (begun []string, waits string, requeue time.Duration) {
		plan := NewPlan(w.snapshot())
		for _, p := range plan.Patch {
			begun = append(begun, string(p.Kind)+" "+p.Pod.Name)
		}
		for _, wait := range plan.Waiting {
			if wait.Pod.Name == first {
				waits = string(wait.Reason.Rule) + ": " + wait.Reason.Message
			}
		}
		return begun, waits, plan.RequeueAfter
	}
	want := string(rollout.RuleSidecarUpdating) + ": SidecarSet logs updates the pod in place: container log: still runs image log:1"
	if begun, waits, requeue := updates(); len(begun) > 0 || waits != want || requeue != 5*time.Minute {
		t.Errorf("begun %v, waits %q, looks again in %s; want nothing, %q and 5m", begun, waits, requeue, want)
	}
	stuck := w.Now
	w.Now = stuck.Add(5 * time.Minute)
	if begun, waits, _ := updates(); len(begun) != 1 || !strings.HasSuffix(begun[0], first) {
		t.Errorf("after 5 minutes: begun %v, waits %q", begun, waits)
	}
	w.Now = stuck.Add(time.Second)
	w.Kubelet(first)
	if begun, waits, _ := updates(); len(begun) != 1 || !strings.HasSuffix(begun[0], first) {
		t.Errorf("the sidecar is updated: begun %v, waits %q", begun, waits)
	}
	w.Edit(first, func(pod *corev1.Pod) { scenario.UpdateSidecar(t, pod, "log", "log:3", w.Now) })
	w.Spec("type=ReCreate")
	if plan := NewPlan(w.snapshot()); len(plan.Delete) != 1 || plan.Delete[0].Pod.Name != first {
		t.Errorf("recreated: %v, waiting %v", plan.Delete, plan.Waiting)
	}
}
