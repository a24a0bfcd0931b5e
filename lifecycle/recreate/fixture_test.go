// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var (
	now     = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	created = now.Add(-10 * time.Second)
)

const (
	own     = `{"userAgent":"ContainerRecreateRequest","key":"shop/restart"}`
	foreign = `{"userAgent":"Lifecycle","key":"preDeleteHook"}`

	syncAnnotation = v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation
	acquired       = v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation
	finalizer      = v1alpha1.ContainerRecreateRequestUnreadyAcquiredFinalizer
)

// newRequest is a request as a user creates it.
func newRequest(edits ...func(*v1alpha1.ContainerRecreateRequest)) *v1alpha1.ContainerRecreateRequest {
	r := &v1alpha1.ContainerRecreateRequest{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "ContainerRecreateRequest"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "restart"},
		Spec: v1alpha1.ContainerRecreateRequestSpec{
			PodName:    "web-0",
			Containers: []v1alpha1.ContainerRecreateRequestContainer{{Name: "main"}},
		},
	}
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// request is a request that a node agent works on, created 10 seconds ago.
func request(edits ...func(*v1alpha1.ContainerRecreateRequest)) *v1alpha1.ContainerRecreateRequest {
	r := newRequest()
	recreate.Default(r, runningPod())
	r.UID, r.ResourceVersion, r.CreationTimestamp = "r", "5", metav1.NewTime(created)
	r.Status.Phase = v1alpha1.ContainerRecreateRequestRecreating
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// runningPod is a pod in service, with the readiness gate. Its containers main
// and side were started before the request.
func runningPod(edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "u", ResourceVersion: "7"},
		Spec: corev1.PodSpec{
			NodeName: "node-1", TerminationGracePeriodSeconds: new(int64(40)),
			Containers:     []corev1.Container{{Name: "main", Image: "web:1"}, {Name: "side", Image: "side:1"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: v1alpha1.KruisePodReady}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
			{Type: v1alpha1.KruisePodReady, Status: corev1.ConditionTrue},
		}, ContainerStatuses: []corev1.ContainerStatus{
			status("main", "containerd://m1", 1, created.Add(-time.Hour)), status("side", "containerd://s1", 0, created.Add(-time.Hour)),
		}},
	}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func status(name, id string, restarts int32, started time.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: name, ContainerID: id, RestartCount: restarts, Ready: true,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(started)}},
	}
}

// Edits of requests.

func age(d time.Duration) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.CreationTimestamp = metav1.NewTime(now.Add(-d)) }
}

func deadline(seconds int64) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.ActiveDeadlineSeconds = &seconds }
}

func ttl(seconds int32) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.TTLSecondsAfterFinished = &seconds }
}

func unready(seconds int64) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) {
		if r.Spec.Strategy == nil {
			r.Spec.Strategy = &v1alpha1.ContainerRecreateRequestStrategy{}
		}
		r.Spec.Strategy.UnreadyGracePeriodSeconds = &seconds
	}
}

func annotated(key, value string) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) {
		r.Annotations = maps.Clone(r.Annotations)
		if r.Annotations == nil {
			r.Annotations = map[string]string{}
		}
		r.Annotations[key] = value
	}
}

func held(others ...string) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.Finalizers = append(others, finalizer) }
}

func inactive(r *v1alpha1.ContainerRecreateRequest) {
	delete(r.Labels, v1alpha1.ContainerRecreateRequestActiveLabel)
}

// completed is a request that was completed some time ago.
func completed(ago time.Duration) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) {
		at := metav1.NewTime(now.Add(-ago))
		r.Status.Phase, r.Status.CompletionTime = v1alpha1.ContainerRecreateRequestCompleted, &at
	}
}

func deleting(r *v1alpha1.ContainerRecreateRequest) {
	at := metav1.NewTime(now)
	r.DeletionTimestamp = &at
}

func containers(names ...string) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) {
		r.Spec.Containers = nil
		for _, name := range names {
			r.Spec.Containers = append(r.Spec.Containers, v1alpha1.ContainerRecreateRequestContainer{Name: name})
		}
	}
}

// Edits of pods.

func keys(keys ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions[0].Status = corev1.ConditionFalse
		pod.Status.Conditions[2].Status = corev1.ConditionFalse
		pod.Status.Conditions[2].Message = "[" + strings.Join(keys, ",") + "]"
	}
}

// debugged gives a pod an ephemeral container that has failed.
func debugged(pod *corev1.Pod) {
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "busybox"}}}
	pod.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debug", ContainerID: "containerd://d",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}}}
}

func ungated(pod *corev1.Pod) { pod.Spec.ReadinessGates = nil }

func leaving(pod *corev1.Pod) {
	at := metav1.NewTime(now)
	pod.DeletionTimestamp = &at
}

// show writes a plan in a few words a step.
func show(pod *corev1.Pod, p *recreate.Plan) []string {
	out := []string{}
	for _, step := range p.Steps {
		switch {
		case step.Status != nil:
			out = append(out, fmt.Sprintf("%s: %s", step.Status.Phase, step.Status.Message))
		case step.Change != nil:
			out = append(out, showChange(step.Change))
		case step.Pod != nil:
			out = append(out, showPod(step.Pod, pod))
		case step.Delete:
			out = append(out, "delete")
		}
	}
	if p.RequeueAfter > 0 {
		out = append(out, "again after "+p.RequeueAfter.String())
	}
	return out
}

func showChange(c *recreate.Change) string {
	var words []string
	if c.AddFinalizer {
		words = append(words, "add finalizer")
	}
	if c.RemoveFinalizer {
		words = append(words, "remove finalizer")
	}
	for _, key := range slices.Sorted(maps.Keys(c.Annotations)) {
		_, name, _ := strings.Cut(key, "/")
		words = append(words, name+" "+c.Annotations[key])
	}
	if c.Deactivate {
		words = append(words, "deactivate")
	}
	return strings.Join(words, ", ")
}

func showPod(p *podpatch.Patch, pod *corev1.Pod) string {
	c := p.Condition(pod, v1alpha1.KruisePodReady)
	return fmt.Sprintf("pod %s %s", c.Status, c.Message)
}
