// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// agent plays the agent of all nodes for the ContainerRecreateRequests of a namespace. It knows of a request what stands in
// the request. Its runtime is the status of the pod, which the simulated kubelet acts on.
type agent struct {
	*cloneSetFixture
	requests lifecycleclient.ContainerRecreateRequestInterface
}

// startAgent runs an agent until the test ends.
func (s *cloneSetFixture) startAgent() *agent {
	s.Helper()
	client, err := lifecycleclient.NewForConfig(s.Config())
	if err != nil {
		s.Fatal(err)
	}
	a := &agent{s, client.ContainerRecreateRequests(s.Namespace)}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	s.Cleanup(func() {
		cancel()
		running.Wait()
	})
	running.Go(func() {
		for ctx.Err() == nil {
			if err := a.step(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
				a.Logf("agent: %v", err)
			}
			mirror.Pause(ctx)
		}
	})
	return a
}

// step has the first request of every pod worked on, and the others wait.
func (a *agent) step(ctx context.Context) error {
	list, err := a.requests.List(ctx, metav1.ListOptions{LabelSelector: lifecyclev1alpha1.ContainerRecreateRequestActiveLabel + "=true"})
	if err != nil {
		return err
	}
	byPod := map[string][]*lifecyclev1alpha1.ContainerRecreateRequest{}
	for i := range list.Items {
		if r := &list.Items[i]; r.DeletionTimestamp == nil && r.Status.CompletionTime == nil {
			byPod[r.Spec.PodName] = append(byPod[r.Spec.PodName], r)
		}
	}
	order := []lifecyclev1alpha1.ContainerRecreateRequestPhase{"Recreating", "Pending", ""}
	for _, requests := range byPod {
		slices.SortFunc(requests, func(a, b *lifecyclev1alpha1.ContainerRecreateRequest) int {
			return cmp.Or(cmp.Compare(slices.Index(order, a.Status.Phase), slices.Index(order, b.Status.Phase)), cmp.Compare(a.Name, b.Name))
		})
		for _, waiting := range requests[1:] {
			if waiting.Status.Phase == "" {
				waiting.Status.Phase = lifecyclev1alpha1.ContainerRecreateRequestPending
				if _, err := a.requests.UpdateStatus(ctx, waiting, metav1.UpdateOptions{}); err != nil {
					return err
				}
			}
		}
		if err := a.handle(ctx, requests[0]); err != nil {
			return err
		}
	}
	return nil
}

// handle makes the next write for a request, if there is one.
func (a *agent) handle(ctx context.Context, r *lifecyclev1alpha1.ContainerRecreateRequest) error {
	if r.Status.Phase != lifecyclev1alpha1.ContainerRecreateRequestRecreating {
		r.Status.Phase = lifecyclev1alpha1.ContainerRecreateRequestRecreating
		_, err := a.requests.UpdateStatus(ctx, r, metav1.UpdateOptions{})
		return err
	}
	if wait := r.Spec.Strategy.UnreadyGracePeriodSeconds; wait != nil {
		from, err := time.Parse(time.RFC3339, r.Annotations[lifecyclev1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation])
		if err != nil || time.Since(from) < time.Duration(*wait)*time.Second {
			return nil
		}
	}
	var states []lifecyclev1alpha1.ContainerRecreateRequestContainerRecreateState
	done := true
	for _, c := range r.Spec.Containers {
		phase, err := a.recreate(ctx, r, c)
		if err != nil {
			return err
		}
		done = done && phase == lifecyclev1alpha1.ContainerRecreateRequestSucceeded
		states = append(states, lifecyclev1alpha1.ContainerRecreateRequestContainerRecreateState{Name: c.Name, Phase: phase, IsKilled: true})
	}
	if done {
		r.Status.Phase, r.Status.CompletionTime = lifecyclev1alpha1.ContainerRecreateRequestCompleted, new(metav1.Now())
	} else if slices.Equal(states, r.Status.ContainerRecreateStates) {
		return nil
	}
	r.Status.ContainerRecreateStates = states
	_, err := a.requests.UpdateStatus(ctx, r, metav1.UpdateOptions{})
	return err
}

// recreate stops a container that still is the one of the request, and tells how far it is.
func (a *agent) recreate(ctx context.Context, r *lifecyclev1alpha1.ContainerRecreateRequest, c lifecyclev1alpha1.ContainerRecreateRequestContainer) (
	lifecyclev1alpha1.ContainerRecreateRequestPhase, error) {
	pod, err := a.Core.CoreV1().Pods(a.Namespace).Get(ctx, r.Spec.PodName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
	status := &pod.Status.ContainerStatuses[i]
	if running := status.State.Running; running != nil && status.ContainerID == c.StatusContext.ContainerID {
		status.Ready, status.Started = false, new(false)
		status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: "Error", StartedAt: running.StartedAt, FinishedAt: metav1.Now(), ContainerID: status.ContainerID,
		}}
		_, err := a.Core.CoreV1().Pods(a.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		return lifecyclev1alpha1.ContainerRecreateRequestRecreating, err
	}
	var synced []lifecyclev1alpha1.ContainerRecreateRequestSyncContainerStatus
	if text := r.Annotations[lifecyclev1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation]; text != "" {
		if err := json.Unmarshal([]byte(text), &synced); err != nil {
			return "", err
		}
	}
	for _, s := range synced {
		if s.Name == c.Name && s.Ready && s.ContainerID == status.ContainerID {
			return lifecyclev1alpha1.ContainerRecreateRequestSucceeded, nil
		}
	}
	return lifecyclev1alpha1.ContainerRecreateRequestRecreating, nil
}
