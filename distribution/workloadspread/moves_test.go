// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// WS-36: of 24 pods that no node takes, ten are deleted in 5 s. Those that cannot be deleted do not hold back the others.
func TestMovesAtOnce(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		stays := []string{"p00", "p01", "p11"}
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "delete pods" && slices.Contains(stays, r.Name) {
				return apierrors.NewForbidden(corev1.Resource("pods"), r.Name, errors.New("injected"))
			}
			return nil
		})
		c.deployment("web", 24)
		rs := c.replicaSet("web", 1, 24)
		for i := range 24 {
			name := fmt.Sprintf("p%02d", i)
			c.CreatePod(newPod(name, "a", rs))
			c.stuck(name)
		}
		c.createSpread("web", "subsets: [{name: a, maxReplicas: 24}, {name: b}]\nscheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 30}}")
		reconciles, stop := c.start()
		defer stop()
		c.Sleep("31s")
		var left []int
		for range 14 {
			left = append(left, len(c.Pods()))
			time.Sleep(time.Second)
		}
		if want := []int{14, 14, 14, 14, 14, 4, 4, 4, 4, 4, 3, 3, 3, 3}; !slices.Equal(left, want) {
			t.Errorf("so many pods are left, second by second: %v, want %v", left, want)
		}
		if len(reconciles.Errors()) == 0 {
			t.Error("no error tells what cannot be deleted")
		}
		var names []string
		for _, pod := range c.Pods() {
			names = append(names, pod.Name)
		}
		if slices.Sort(names); !slices.Equal(names, stays) {
			t.Errorf("pods %v are left, want %v", names, stays)
		}
	})
}

// WS-32, WS-36: a pod that waits for its turn says so, and not that it cannot be deleted.
func TestHeldUntilItsTurn(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := &Snapshot{Spread: newSpread(t, "web", "subsets: [{name: a, maxReplicas: 24}, {name: b}]\nscheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 30}}"),
		Workload: &spread.Workload{GroupKind: spread.Deployments, Name: "web", Replicas: new(int32(12))}, Now: now, NotMoved: map[types.UID]bool{"p11": true}}
	for i := range 12 {
		name := fmt.Sprintf("p%02d", i)
		pod := newPod(name, "a", metav1.OwnerReference{Name: "web-1"})
		pod.UID, pod.Status.Phase = types.UID(name), corev1.PodPending
		pod.CreationTimestamp.Time = now.Add(-time.Hour)
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		s.Pods = append(s.Pods, pod)
	}
	rules := map[string]rollout.Rule{}
	for _, held := range NewPlan(s).Held {
		if held.Reason != nil {
			rules[held.Name] = held.Reason.Rule
		}
	}
	if rules["p09"] != "PodNotDeleted" || rules["p10"] != "FewAtOnce" || rules["p11"] != "PodNotDeleted" {
		t.Errorf("held: %v", rules)
	}
}

// WS-32, WS-37: a pod of a Job that no node takes says why it stays, and its subset is closed.
func TestPodsOfJobsStay(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ws := newSpread(t, "web", "targetRef: {apiVersion: batch/v1, kind: Job, name: web}\nsubsets: [{name: a, maxReplicas: 2}, {name: b}]\nscheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 30}}")
	pod := newPod("x", "a", metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "web", Controller: new(true)})
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes have room"}}}
	pod.CreationTimestamp.Time = now.Add(-time.Hour)
	plan := NewPlan(&Snapshot{Spread: ws, Workload: &spread.Workload{GroupKind: spread.Jobs, Name: "web", Replicas: new(int32(2))}, Pods: []*corev1.Pod{pod}, Now: now,
		HeldSince: map[rollout.Subject]time.Time{{Kind: "pod", Name: "x"}: now.Add(-time.Minute)}})
	if len(plan.Deletions) > 0 || plan.Status == nil {
		t.Fatalf("plan %s", plan)
	}
	told := map[v1alpha1.WorkloadSpreadSubsetConditionType]string{}
	for _, c := range plan.Status.SubsetStatuses[0].Conditions {
		told[c.Type] = strings.TrimSpace(fmt.Sprint(c.Status, " ", c.Reason, " ", c.Message))
	}
	want := map[v1alpha1.WorkloadSpreadSubsetConditionType]string{v1alpha1.SubsetSchedulable: "False",
		v1alpha1.SubsetHeldUp: "True PodOfJob pod x: it stays without a node, and is not created again in another subset: its Job counts a deleted pod as failed, and half of its backoffLimit is used up; 0/3 nodes have room"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("conditions (-want +got) %s", diff)
	}
}
