// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// A pod that OpenKruise was resizing completes when its containers have what its spec says. (IP-43)
func TestTakeOverOfAResize(t *testing.T) {
	cpu := func(n string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(n)}}
	}
	const record = `{"revision":"web-2","updateTimestamp":"2026-01-01T00:00:00Z","lastContainerStatuses":null,"updateResources":true,` +
		`"containerBatchesRecord":[{"timestamp":"2026-01-01T00:00:00Z","containers":["main"]}]`
	const later = `,"nextContainerResources":{"side":{"requests":{"cpu":"3"}}}`
	for _, tt := range []struct {
		name            string
		more            string // of the record
		main, side      string // cpu that the node reports; empty: it reports no resources
		condition       *corev1.PodCondition
		complete        bool
		waits, requests string
	}{
		{name: "IP-43: the node is not at it yet", main: "1", side: "1", waits: "container main: does not have its new resources yet"},
		{name: "IP-43: the containers have it", main: "2", side: "1", complete: true},
		{name: "IP-43: a runtime that reports no resources", complete: true},
		{name: "IP-43: the node has no room", main: "1", side: "1", waits: "as soon as it has room",
			condition: &corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred}},
		{name: "IP-43: a later batch of resources alone begins", more: later, main: "2", side: "1", waits: "container side: its resources are still to be requested", requests: "3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-a", Labels: map[string]string{"controller-revision-hash": "web-2"},
					Annotations: map[string]string{v1alpha1.StateAnnotation: record + tt.more + "}"}},
				Spec: corev1.PodSpec{
					ReadinessGates: []corev1.PodReadinessGate{{ConditionType: v1alpha1.InPlaceUpdateReady}},
					Containers:     []corev1.Container{{Name: "main", Resources: cpu("2")}, {Name: "side", Resources: cpu("1")}},
				},
				Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: v1alpha1.InPlaceUpdateReady, Status: corev1.ConditionTrue}}},
			}
			for name, n := range map[string]string{"main": tt.main, "side": tt.side} {
				status := corev1.ContainerStatus{Name: name}
				if n != "" {
					r := cpu(n)
					status.Resources = &r
				}
				pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
			}
			if tt.condition != nil {
				pod.Status.Conditions = append(pod.Status.Conditions, *tt.condition)
			}
			if Settled(pod) || !BeingResized(pod) {
				t.Errorf("settled %t, being resized %t", Settled(pod), BeingResized(pod))
			}
			complete, waits, err := Complete(pod)
			if err != nil || complete != tt.complete || !strings.Contains(waits, tt.waits) {
				t.Fatalf("complete %t, waits %q, error %v", complete, waits, err)
			}
			patch := &podpatch.Patch{}
			progress, err := Refresh(patch, pod, time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC))
			if err != nil || progress.Complete != tt.complete {
				t.Errorf("refresh: %v, error %v", progress, err)
			}
			state := patch.Annotations[v1alpha1.StateAnnotation]
			if tt.complete && (state == nil || strings.Contains(*state, "esources")) {
				t.Errorf("the record is left: %v", state)
			}
			if r, asked := patch.Resources["side"]; asked != (tt.requests != "") || asked && r.Requests.Cpu().String() != tt.requests {
				t.Errorf("requests %v", patch.Resources)
			}
		})
	}
}
