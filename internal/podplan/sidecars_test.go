// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
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
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	const waits = "SidecarSet logs updates the pod in place: container log: still runs image log:v1"
	annotate := func(key, value string) func(*View) { return func(pod *View) { pod.Annotations[key] = value } }
	for _, test := range []struct {
		name string
		ago  time.Duration
		act  func(*View)
		want string
		left time.Duration
	}{
		{"the sidecar runs its former image", time.Minute, nil, waits, 4 * time.Minute},
		{"for 5 minutes", 5*time.Minute - time.Second, nil, waits, time.Second},
		{"at most", 5 * time.Minute, nil, "", 0},
		{"by another clock", -time.Minute, nil, waits, 6 * time.Minute},
		{"by a clock that is far off", -5 * time.Minute, nil, "", 0},
		{"the sidecar runs the new image", time.Minute, func(pod *View) { pod.Status.ContainerStatuses[1].ImageID = "id of log:v2" }, "", 0},
		{"the workload's own update is under way", time.Minute, func(pod *View) { pod.Updating = true }, "", 0},
		{"no state", time.Minute, annotate(v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, ""), "", 0},
		{"a state that cannot be read", time.Minute, annotate(v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, "{"), "", 0},
		{"a record that cannot be read", time.Minute, annotate(v1alpha1.SidecarSetHashAnnotation, "{"), "", 0},
		{"a record without a time", time.Minute, annotate(v1alpha1.SidecarSetHashAnnotation, `{"logs":"h"}`), "", 0},
		{"a record of another SidecarSet", time.Minute, annotate(v1alpha1.SidecarSetHashAnnotation, `{}`), "", 0},
		{"another SidecarSet, long ago", time.Minute, annotate(v1alpha1.SidecarSetInPlaceUpdateStateAnnotation,
			`{"a":{"lastContainerStatuses":{"log":{"imageID":"id of log:v1"}}},"logs":{"lastContainerStatuses":{"log":{"imageID":"id of log:v1"}}}}`), waits, 4 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan, p := newPlanner()
			p.At = now
			pod := &View{Pod: sidecarPod(now.Add(-test.ago))}
			if test.act != nil {
				test.act(pod)
			}
			p.UpdateInPlace(pod, &inplace.Update{Revision: "web-2", Images: map[string]string{"main": "main:v2"}}, &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}})
			got := ""
			for _, w := range plan.Waiting {
				got += w.Reason.String()
			}
			if got != test.want || (pod.Patch == nil) != (test.want != "") || plan.RequeueAfter != test.left || len(plan.Problems) > 0 {
				t.Errorf("waits %q and looks again in %s, patch %v, problems %v; want %q and %s", got, plan.RequeueAfter, pod.Patch, plan.Problems, test.want, test.left)
			}
		})
	}
}

// IP-33: if a SidecarSet has injected, the writes of an update are refused if the pod has
// changed: the SidecarSet may have begun.
func TestUpdatesBeginOnThePodAsItWasRead(t *testing.T) {
	for name, want := range map[string]bool{"": false, v1alpha1.SidecarSetHashAnnotation: true} {
		_, p := newPlanner()
		p.At = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
		pod := &View{Pod: sidecarPod(p.At.Add(-time.Hour))}
		pod.Annotations = map[string]string{name: "{}"}
		p.UpdateInPlace(pod, &inplace.Update{Revision: "web-2"}, &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}})
		if pod.Patch == nil || pod.Patch.IfUnchanged != want || pod.Patch.Throughout != want {
			t.Errorf("annotation %q: patch %+v, want one that holds for the pod as it was read: %t", name, pod.Patch, want)
		}
	}
}
