// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// node plays the parts of a node: its kubelet and its agent. The agent knows what stands
// in a request, and what the runtime knows of containers.
type node struct {
	*story
	runtime map[string]*container // by pod UID and name; the newest ones
	startup time.Duration         // from the start of a container to its readiness
	broken  bool                  // containers that are started again never are ready
}

type container struct {
	id       string
	restarts int32
	started  time.Time
	exited   bool
}

// kubelet starts containers that do not run, and reports all.
func (n *node) kubelet() {
	n.T.Helper()
	for _, pod := range n.Pods() {
		if pod.DeletionTimestamp != nil {
			n.RemovePod(pod.Name)
			continue
		}
		before := pod.Status.DeepCopy()
		n.report(&pod)
		if equality.Semantic.DeepEqual(before, &pod.Status) {
			continue
		}
		if _, err := n.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(n.T.Context(), &pod, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			n.Must(err)
		}
	}
	synctest.Wait()
}

func (n *node) report(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = nil
	ready := true
	for _, of := range pod.Spec.Containers {
		c := n.runtime[string(pod.UID)+of.Name]
		if c == nil {
			c = &container{restarts: -1, exited: true}
			n.runtime[string(pod.UID)+of.Name] = c
		}
		if c.exited {
			*c = container{restarts: c.restarts + 1, started: time.Now()}
			c.id = fmt.Sprintf("containerd://%s-%d", of.Name, c.restarts)
		}
		status := status(of.Name, c.id, c.restarts, c.started)
		status.Ready = !(n.broken && c.restarts > 0) && time.Since(c.started) >= n.startup
		ready = ready && status.Ready
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
	}
	setCondition(pod, corev1.ContainersReady, ready)
	if readiness.Condition(pod, v1alpha1.KruisePodReady) == nil { // the pod-readiness controller
		setCondition(pod, v1alpha1.KruisePodReady, true)
	}
	for _, gate := range pod.Spec.ReadinessGates {
		ready = ready && readiness.Condition(pod, gate.ConditionType).Status == corev1.ConditionTrue
	}
	setCondition(pod, corev1.PodReady, ready)
}

func setCondition(pod *corev1.Pod, t corev1.PodConditionType, is bool) {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	if c := readiness.Condition(pod, t); c == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: status})
	} else if c.Status != status {
		*c = corev1.PodCondition{Type: t, Status: status}
	}
}

// agent makes a step for every pod: it chooses the request to work on, and has
// the others wait. (CRR-5.2)
func (n *node) agent() {
	n.T.Helper()
	list, err := n.requests.List(n.T.Context(), metav1.ListOptions{
		LabelSelector: "crr.apps.kruise.io/node-name=node-1,crr.apps.kruise.io/active=true",
	})
	n.Must(err)
	byPod := map[string][]*v1alpha1.ContainerRecreateRequest{}
	for i := range list.Items {
		if r := &list.Items[i]; r.DeletionTimestamp == nil && r.Status.CompletionTime == nil {
			byPod[r.Spec.PodName] = append(byPod[r.Spec.PodName], r)
		}
	}
	order := []v1alpha1.ContainerRecreateRequestPhase{recreating, pending, ""}
	for _, requests := range byPod {
		slices.SortFunc(requests, func(a, b *v1alpha1.ContainerRecreateRequest) int {
			return cmp.Or(cmp.Compare(slices.Index(order, a.Status.Phase), slices.Index(order, b.Status.Phase)),
				a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
		for _, waiting := range requests[1:] {
			if waiting.Status.Phase == "" {
				waiting.Status.Phase = pending
				n.write(waiting)
			}
		}
		n.handle(requests[0])
	}
	synctest.Wait()
}

// write updates the status, unless another writer was faster.
func (n *node) write(r *v1alpha1.ContainerRecreateRequest) {
	n.T.Helper()
	if _, err := n.requests.UpdateStatus(n.T.Context(), r, metav1.UpdateOptions{}); !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		n.Must(err)
	}
}

// handle makes a step of the request that was chosen. (CRR-5.3)
func (n *node) handle(r *v1alpha1.ContainerRecreateRequest) {
	n.T.Helper()
	if r.Status.Phase != recreating {
		r.Status.Phase = recreating
		n.write(r)
		return
	}
	if wait := r.Spec.Strategy.UnreadyGracePeriodSeconds; wait != nil {
		from := r.Annotations[acquired]
		at, err := time.Parse(time.RFC3339, from)
		if from == "" || time.Since(at) < time.Duration(*wait)*time.Second {
			return
		}
		n.Must(err)
	}
	states := n.states(r)
	if !equality.Semantic.DeepEqual(states, r.Status.ContainerRecreateStates) {
		r.Status.ContainerRecreateStates = states
		n.write(r)
		return
	}
	done := 0
	for i := range states {
		switch states[i].Phase {
		case v1alpha1.ContainerRecreateRequestSucceeded:
			done++
			continue
		case pending:
			n.runtime[r.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel]+states[i].Name].exited = true
			states[i].Phase, states[i].IsKilled = recreating, true
			n.write(r)
			return
		}
		if r.Spec.Strategy.OrderedRecreate {
			return
		}
	}
	if done == len(states) {
		now := metav1.Now()
		r.Status.Phase, r.Status.CompletionTime = v1alpha1.ContainerRecreateRequestCompleted, &now
		n.write(r)
	}
}

// states computes how far the containers are. (CRR-5.4)
func (n *node) states(r *v1alpha1.ContainerRecreateRequest) (states []v1alpha1.ContainerRecreateRequestContainerRecreateState) {
	var synced []v1alpha1.ContainerRecreateRequestSyncContainerStatus
	if text := r.Annotations[syncAnnotation]; text != "" {
		n.Must(json.Unmarshal([]byte(text), &synced))
	}
	for i, of := range r.Spec.Containers {
		state := v1alpha1.ContainerRecreateRequestContainerRecreateState{Name: of.Name, Phase: pending}
		if len(r.Status.ContainerRecreateStates) > 0 {
			state = r.Status.ContainerRecreateStates[i]
		}
		c := n.runtime[r.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel]+of.Name]
		switch {
		case state.Phase == v1alpha1.ContainerRecreateRequestSucceeded:
		case c.exited:
			state.Phase = recreating
		case c.id != of.StatusContext.ContainerID:
			state.Phase = recreating
			if slices.ContainsFunc(synced, func(s v1alpha1.ContainerRecreateRequestSyncContainerStatus) bool {
				return s.Name == of.Name && s.ContainerID == c.id && s.Ready
			}) {
				state.Phase = v1alpha1.ContainerRecreateRequestSucceeded
			}
		}
		states = append(states, state)
	}
	return states
}
