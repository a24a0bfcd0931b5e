// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// actInTheEnd has the agents that are not silent go on.
func actInTheEnd(u *simulation.User) {
	if request, is := u.Workload().(*v1alpha1.ContainerRecreateRequest); is && request.Spec.PodName != silent {
		actAsAgent(u, false)
	}
}

// actAsAgent has the agent of the request's pod go one step on. It stops containers one by one, or fails to. (CRR-5.3)
func actAsAgent(u *simulation.User, fails bool) {
	request, is := u.Workload().(*v1alpha1.ContainerRecreateRequest)
	if !is || request.DeletionTimestamp != nil || request.Status.CompletionTime != nil || request.Labels[v1alpha1.ContainerRecreateRequestActiveLabel] == "" {
		return
	}
	i := slices.IndexFunc(u.Pods(), func(pod *corev1.Pod) bool {
		return pod.Name == request.Spec.PodName && pod.UID == types.UID(request.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel])
	})
	if i < 0 {
		return
	}
	pod, next := u.Pods()[i], request.DeepCopy()
	switch request.Status.Phase {
	case "":
		next.Status.Phase = v1alpha1.ContainerRecreateRequestRecreating
		if fails {
			next.Status.Phase = v1alpha1.ContainerRecreateRequestPending
		}
	case v1alpha1.ContainerRecreateRequestPending:
		next.Status.Phase = v1alpha1.ContainerRecreateRequestRecreating
	default:
		if !mayStop(request) {
			return
		}
		recreateNext(u, next, pod, fails)
	}
	next.Status.ObservedGeneration = next.Generation
	if len(next.Status.ContainerRecreateStates) == 0 {
		for _, of := range next.Spec.Containers {
			next.Status.ContainerRecreateStates = append(next.Status.ContainerRecreateStates, v1alpha1.ContainerRecreateRequestContainerRecreateState{Name: of.Name, Phase: v1alpha1.ContainerRecreateRequestPending})
		}
	}
	if data, err := json.Marshal(map[string]any{"status": next.Status}); err == nil {
		u.Patch("containerrecreaterequests", request.Name, string(data), "status")
	}
}

// mayStop tells whether the pod has been out of service for the grace period.
func mayStop(request *v1alpha1.ContainerRecreateRequest) bool {
	if request.Spec.Strategy.UnreadyGracePeriodSeconds == nil {
		return true
	}
	at, err := time.Parse(time.RFC3339, request.Annotations[v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation])
	return err == nil && time.Since(at) >= time.Duration(*request.Spec.Strategy.UnreadyGracePeriodSeconds)*time.Second
}

// recreateNext stops the next container, or ends with those that are back, and completes the request when all are.
func recreateNext(u *simulation.User, request *v1alpha1.ContainerRecreateRequest, pod *corev1.Pod, fails bool) {
	var report []v1alpha1.ContainerRecreateRequestSyncContainerStatus
	_ = json.Unmarshal([]byte(request.Annotations[v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation]), &report) // otherwise nothing is told
	done := true
	for i := range request.Status.ContainerRecreateStates {
		state := &request.Status.ContainerRecreateStates[i]
		back := slices.ContainsFunc(report, func(s v1alpha1.ContainerRecreateRequestSyncContainerStatus) bool {
			return s.Name == state.Name && s.Ready
		})
		switch {
		case state.Phase == v1alpha1.ContainerRecreateRequestPending && fails:
			state.Phase, state.Message = v1alpha1.ContainerRecreateRequestFailed, "kill container error: injected"
		case state.Phase == v1alpha1.ContainerRecreateRequestPending:
			restart(u, pod, i)
			state.Phase, state.IsKilled, done = v1alpha1.ContainerRecreateRequestRecreating, true, false
			return
		case state.Phase == v1alpha1.ContainerRecreateRequestRecreating && back:
			state.Phase = v1alpha1.ContainerRecreateRequestSucceeded
		case state.Phase == v1alpha1.ContainerRecreateRequestRecreating:
			done = false
		}
	}
	if done && len(request.Status.ContainerRecreateStates) > 0 {
		now := metav1.NewTime(time.Now().Truncate(time.Second))
		request.Status.Phase, request.Status.CompletionTime, request.Status.Message = v1alpha1.ContainerRecreateRequestCompleted, &now, ""
	}
}
