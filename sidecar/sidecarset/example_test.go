// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// What becomes of running pods when the image of a sidecar changes.
func ExampleNewPlan() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "logging", UID: "1234", Generation: 1}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set.Spec.Containers = []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "log", Image: "log:1"}}}

	var pods []*corev1.Pod
	for _, name := range []string{"web-0", "web-1"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: set.Spec.Selector.MatchLabels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}}
		injected, err := injection.Inject(injection.Input{Pod: pod, SidecarSets: []*v1alpha1.SidecarSet{set}, Now: now})
		if err != nil {
			fmt.Println(err)
			return
		}
		pods = append(pods, running(injected.Pod, now))
	}

	set.Spec.Containers[0].Image = "log:2"
	plan := sidecarset.NewPlan(&sidecarset.Snapshot{Set: set, Pods: pods, Now: now.Add(time.Minute)})
	fmt.Println(plan)
	// Output:
	// update revision logging-7dd76475c8
	// create revision logging-7dd76475c8 (1)
	// patch pod web-0 (UpdateInPlace)
	// wait web-1: maxUnavailable 1: 1 pod out of service because of updates
	// write the status: 2 pods matched, 0 updated, 2 ready, 0 updated and ready
}

// running is a pod as its kubelet reports it.
func running(pod *corev1.Pod, since time.Time) *corev1.Pod {
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(since)}}}
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: "id-of-" + c.Image, Ready: true})
	}
	return pod
}
