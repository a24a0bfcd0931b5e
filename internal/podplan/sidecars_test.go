// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// sidecarPod is a pod of whose container log SidecarSet logs has replaced log:v1, at a time.
func sidecarPod(at time.Time) *corev1.Pod {
	running := func(name string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, Image: name + ":v1", ImageID: "id of " + name + ":v1", ContainerID: name + "-1", Ready: true}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", ResourceVersion: "7", Annotations: map[string]string{
			v1alpha1.SidecarSetHashAnnotation:               fmt.Sprintf(`{"logs":{"updateTimestamp":%q,"hash":"h","sidecarSetName":"logs"}}`, at.Format(time.RFC3339)),
			v1alpha1.SidecarSetInPlaceUpdateStateAnnotation: `{"logs":{"revision":"h","updateTimestamp":"2025-01-01T00:00:00Z","lastContainerStatuses":{"log":{"imageID":"id of log:v1"}}}}`,
		}},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:v1"}, {Name: "log", Image: "log:v2"}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{running("main"), running("log")}},
	}
}

// IP-33: an update waits while a SidecarSet updates the pod, and not for ever.
func TestUpdatesWaitForSidecars(t *testing.T) {
	type row struct {
		Ago      metav1.Duration
		Pod      json.RawMessage
		Updating bool // by its workload
	}
	blank := func() row { return row{Pod: json.RawMessage("{}")} }
	patches.PlayRows(t, "testdata/sidecars.txt", blank, func(t *testing.T, _ string, r *row) string {
		plan, p := newPlanner()
		p.At = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
		pod := &View{Pod: sidecarPod(p.At.Add(-r.Ago.Duration)), Updating: r.Updating}
		patches.Strategic(t, pod.Pod, string(r.Pod))
		p.UpdateInPlace(pod, &inplace.Update{Revision: "web-2", Images: map[string]string{"main": "main:v2"}}, webTwo)
		if (pod.Patch == nil) != (len(plan.Waiting) > 0) || len(plan.Problems) > 0 {
			t.Errorf("patch %v, waits %v, problems %v", pod.Patch, plan.Waiting, plan.Problems)
		}
		if pod.Patch != nil {
			return fmt.Sprint("begins, again in ", plan.RequeueAfter)
		}
		return fmt.Sprint(plan.Waiting[0].Reason, ", again in ", plan.RequeueAfter)
	})
}

// webTwo is the revision that pods are updated to.
var webTwo = &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}}

// IP-33: if a SidecarSet has injected, the writes of an update are refused if the pod has
// changed: the SidecarSet may have begun.
func TestUpdatesBeginOnThePodAsItWasRead(t *testing.T) {
	for name, want := range map[string]bool{"": false, v1alpha1.SidecarSetHashAnnotation: true} {
		_, p := newPlanner()
		p.At = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
		pod := &View{Pod: sidecarPod(p.At.Add(-time.Hour))}
		pod.Annotations = map[string]string{name: "{}"}
		p.UpdateInPlace(pod, &inplace.Update{Revision: "web-2"}, webTwo)
		if pod.Patch == nil || pod.Patch.IfUnchanged != want || pod.Patch.Throughout != want {
			t.Errorf("annotation %q: patch %+v, want one that holds for the pod as it was read: %t", name, pod.Patch, want)
		}
	}
}
