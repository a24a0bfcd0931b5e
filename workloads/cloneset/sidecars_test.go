// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/lifecycle/readiness"
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

// TestRestartBetweenTheWritesOfAnUpdate: IP-14. A container that is restarted between the
// writes that begin an update, with the image before, is not taken for the updated one.
func TestRestartBetweenTheWritesOfAnUpdate(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, `{"spec":{"updateStrategy":{"type":"InPlaceOnly"}}}`)
		c.Settle()
		c.SetImage("nginx:2")
		restarted := false
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "patch pods" && !restarted {
				restarted = true
				pod := c.Pods()[0]
				pod.Status.ContainerStatuses[0].RestartCount++
				pod.Status.ContainerStatuses[0].ContainerID += "-again"
				_, err := c.Client("kubelet").CoreV1().Pods(pod.Namespace).UpdateStatus(context.Background(), &pod, metav1.UpdateOptions{})
				c.Must(err)
			}
			return nil
		})
		c.MustFailReconcile(apierrors.IsConflict)
		updated := false
		for range 4 { // and no kubelet acts
			c.MustReconcile()
			pod := c.Pods()[0]
			if pod.Spec.Containers[0].Image != "nginx:2" {
				continue
			}
			updated = true
			if gate := readiness.Condition(&pod, inplacev1alpha1.InPlaceUpdateReady); gate.Status != corev1.ConditionFalse {
				t.Fatalf("the pod is back in service, and its container runs %s", pod.Status.ContainerStatuses[0].Image)
			}
		}
		if !restarted || !updated {
			t.Errorf("restarted %t, updated %t", restarted, updated)
		}
		c.Settle()
		if status := c.get().Status; status.UpdatedReadyReplicas != 1 {
			t.Errorf("status %+v", status)
		}
	})
}
