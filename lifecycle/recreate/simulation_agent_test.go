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
	pod := u.Pods()[i]
	next := AgentStep(request, fails, func(i int) { restart(u, pod, i) }, func(i int) string {
		return pod.Status.ContainerStatuses[i].ContainerID
	})
	if data, err := json.Marshal(map[string]any{"status": next.Status}); err == nil {
		u.Patch("containerrecreaterequests", request.Name, string(data), "status")
	}
}

// AgentStep is what an agent makes of a request in a step. stop stops a container of it, unless the agent fails to. runs is the ID of that which
// runs. (CRR-5.3, CRR-5.4)
func AgentStep(request *v1alpha1.ContainerRecreateRequest, fails bool, stop func(container int), runs func(container int) string) *v1alpha1.ContainerRecreateRequest {
	next := request.DeepCopy()
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
			return next
		}
		recreateNext(next, fails, stop, runs)
	}
	next.Status.ObservedGeneration = next.Generation
	if len(next.Status.ContainerRecreateStates) == 0 {
		for _, of := range next.Spec.Containers {
			next.Status.ContainerRecreateStates = append(next.Status.ContainerRecreateStates, v1alpha1.ContainerRecreateRequestContainerRecreateState{Name: of.Name, Phase: v1alpha1.ContainerRecreateRequestPending})
		}
	}
	return next
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
func recreateNext(request *v1alpha1.ContainerRecreateRequest, fails bool, stop func(container int), runs func(container int) string) {
	var report []v1alpha1.ContainerRecreateRequestSyncContainerStatus
	_ = json.Unmarshal([]byte(request.Annotations[v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation]), &report) // otherwise nothing is told
	done := true
	for i := range request.Status.ContainerRecreateStates {
		state := &request.Status.ContainerRecreateStates[i]
		back := slices.ContainsFunc(report, func(s v1alpha1.ContainerRecreateRequestSyncContainerStatus) bool {
			return s.Name == state.Name && s.Ready
		})
		of := request.Spec.Containers[i].StatusContext
		switch {
		case state.Phase == v1alpha1.ContainerRecreateRequestPending && of != nil && of.ContainerID != runs(i): // another one runs already
			state.Phase, done = v1alpha1.ContainerRecreateRequestRecreating, false
		case state.Phase == v1alpha1.ContainerRecreateRequestPending && fails:
			state.Phase, state.Message = v1alpha1.ContainerRecreateRequestFailed, "kill container error: injected"
		case state.Phase == v1alpha1.ContainerRecreateRequestPending:
			stop(i)
			state.Phase, state.IsKilled = v1alpha1.ContainerRecreateRequestRecreating, true
			return
		case state.Phase == v1alpha1.ContainerRecreateRequestRecreating && back:
			state.Phase = v1alpha1.ContainerRecreateRequestSucceeded
		case state.Phase == v1alpha1.ContainerRecreateRequestRecreating:
			if done = false; request.Spec.Strategy.OrderedRecreate {
				return
			}
		}
	}
	if done && len(request.Status.ContainerRecreateStates) > 0 {
		now := metav1.NewTime(time.Now().Truncate(time.Second))
		request.Status.Phase, request.Status.CompletionTime, request.Status.Message = v1alpha1.ContainerRecreateRequestCompleted, &now, ""
	}
}
