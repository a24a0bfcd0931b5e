// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// hasEnded tells whether a pod has a final phase.
func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// conditionOf returns a condition of a pod, nil if it has none of the type.
func conditionOf(pod *corev1.Pod, is corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == is {
			return c
		}
	}
	return nil
}

// isMarked tells whether a container is to end with the main ones, by whichever variable.
func isMarked(c *corev1.Container) bool {
	return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
		return e.Name == v1alpha1.TerminateSidecarEnv || e.Name == v1alpha1.TerminateSidecarWithImageEnv
	})
}

// startsAgain tells whether the kubelet starts a container again that has exited with a code.
func startsAgain(pod *corev1.Pod, c *corev1.Container, code int32) bool {
	if c.RestartPolicy == nil {
		return pod.Spec.RestartPolicy != corev1.RestartPolicyNever && (pod.Spec.RestartPolicy != corev1.RestartPolicyOnFailure || code != 0)
	}
	for _, rule := range c.RestartPolicyRules {
		if on := rule.ExitCodes; on != nil && slices.Contains(on.Values, code) == (on.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn) {
			return true
		}
	}
	return *c.RestartPolicy == corev1.ContainerRestartPolicyAlways || *c.RestartPolicy == corev1.ContainerRestartPolicyOnFailure && code != 0
}

// learn does what a kubelet does when it learns that a pod has succeeded, before it stops what runs. It writes these conditions
// like GenerateContainersReadyCondition and its siblings in k8s.io/kubernetes/pkg/kubelet/status.
func learn(pod *corev1.Pod) {
	for _, c := range []corev1.PodCondition{
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, Reason: "PodCompleted"},
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "PodCompleted"},
		{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, Reason: "PodCompleted"},
	} {
		pod.Status.Conditions = append(slices.DeleteFunc(pod.Status.Conditions, func(old corev1.PodCondition) bool { return old.Type == c.Type }), c)
	}
}

// learned tells whether the kubelet has learned that a pod has succeeded.
func learned(pod *corev1.Pod) bool {
	c := conditionOf(pod, corev1.PodInitialized)
	return c != nil && c.Reason == "PodCompleted"
}

// unaware tells whether the kubelet takes a pod for Running that was given another phase.
func unaware(pod *corev1.Pod) bool {
	return hasEnded(pod) && conditionOf(pod, v1alpha1.SidecarTerminatedCondition) != nil && !learned(pod)
}

func end(s *corev1.ContainerStatus, code int32) {
	s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(time.Now().Truncate(time.Second))}}
	s.Ready = false
}

// kubeletPhase is the phase by all containers. A final one that the kubelet knows never changes. One that it does not know stays
// until it comes to a final one itself.
func kubeletPhase(pod *corev1.Pod) corev1.PodPhase {
	if hasEnded(pod) && !unaware(pod) {
		return pod.Status.Phase
	}
	failed := false
	for i := range pod.Spec.Containers {
		ended := pod.Status.ContainerStatuses[i].State.Terminated
		if ended == nil || startsAgain(pod, &pod.Spec.Containers[i], ended.ExitCode) {
			if unaware(pod) {
				return pod.Status.Phase
			}
			return corev1.PodRunning
		}
		failed = failed || ended.ExitCode != 0
	}
	if failed {
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

// runContainers makes one step for the containers of a pod.
func runContainers(pod *corev1.Pod, unpulled string) {
	if pod.Status.ContainerStatuses == nil {
		for _, spec := range pod.Spec.Containers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: spec.Name})
		}
	}
	for i := range pod.Spec.Containers {
		runContainer(pod, &pod.Spec.Containers[i], &pod.Status.ContainerStatuses[i], unpulled)
	}
}

func runContainer(pod *corev1.Pod, spec *corev1.Container, s *corev1.ContainerStatus, unpulled string) {
	switch ended := s.State.Terminated; {
	case hasEnded(pod) && !unaware(pod):
		if ended == nil {
			end(s, tag(s.Image))
		}
	case spec.Image == unpulled:
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
	case s.ContainerID == "", s.Image != spec.Image, ended != nil && startsAgain(pod, spec, ended.ExitCode):
		if s.ContainerID != "" {
			s.RestartCount++
		}
		s.ContainerID, s.Image, s.Ready = fmt.Sprintf("fake://%s-%d", s.Name, s.RestartCount), spec.Image, true
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	case s.Image == exitImage && ended == nil:
		end(s, 0)
	}
}

// tag is the exit code of a container that is stopped.
func tag(image string) (code int32) {
	_, tag, _ := strings.Cut(image, ":")
	_, _ = fmt.Sscan(tag, &code)
	return code
}

// fillIn does what admission does.
func fillIn(r *lifecyclev1alpha1.ContainerRecreateRequest, pod *corev1.Pod) {
	for i := range r.Spec.Containers {
		for _, s := range pod.Status.ContainerStatuses {
			if s.Name == r.Spec.Containers[i].Name {
				r.Spec.Containers[i].StatusContext = &lifecyclev1alpha1.ContainerRecreateRequestContainerContext{ContainerID: s.ContainerID, RestartCount: s.RestartCount}
			}
		}
	}
}

// stopContainers stops the containers of a request that run as they did.
func stopContainers(r *lifecyclev1alpha1.ContainerRecreateRequest, pod *corev1.Pod) {
	for _, of := range r.Spec.Containers {
		for i := range pod.Status.ContainerStatuses {
			if s := &pod.Status.ContainerStatuses[i]; s.Name == of.Name && s.ContainerID == of.StatusContext.ContainerID && s.State.Running != nil {
				end(s, tag(s.Image))
			}
		}
	}
}

// emptyRequest is an object of the kind of requests.
func emptyRequest() simulation.Object { return &lifecyclev1alpha1.ContainerRecreateRequest{} }

// unpullable is an image that cannot be pulled.
const unpullable = "exit:nopull"

// jobPod is a pod that runs to completion. The tag of an image is what its container exits with: a main container by itself, a
// sidecar when it is stopped.
func jobPod(policy corev1.RestartPolicy, containers ...corev1.Container) *corev1.Pod {
	for i := range containers {
		containers[i].Image = containers[i].Name + map[bool]string{true: ":137", false: ":0"}[isMarked(&containers[i])]
	}
	return &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: policy, TerminationGracePeriodSeconds: new(int64(5)), Containers: containers}}
}

// anyPod is a pod of a seed. One in five restarts always. Some have no sidecar or no main container, and some main containers fail or
// never end. Some nodes have agents that are silent, or images that cannot be pulled.
func anyPod(r *rand.Rand) *corev1.Pod {
	policies := []corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure, corev1.RestartPolicyOnFailure, corev1.RestartPolicyAlways}
	marks := []string{"r", "r", "r", "i", "i", "ri", "ir", ""}
	pod := jobPod(policies[r.IntN(len(policies))], containerOf("a", marks[r.IntN(len(marks))]), containerOf("b", marks[r.IntN(len(marks))]), containerOf("main", ""))
	pod.Spec.Containers = pod.Spec.Containers[r.IntN(2):]
	if r.IntN(10) == 0 {
		pod.Spec.Containers = pod.Spec.Containers[:len(pod.Spec.Containers)-1]
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		c.Image = fmt.Sprint(c.Name, ":", []int{0, 0, 1, 137}[r.IntN(4)])
		for j := range c.Env {
			if e := &c.Env[j]; e.Value == exitImage && r.IntN(4) == 0 {
				e.Value = unpullable
			}
		}
	}
	pod.Labels = map[string]string{"agent": []string{"works", "works", "silent", "dead"}[r.IntN(4)], "ends": fmt.Sprint(r.IntN(5) > 0), "learns": []string{"soon", "late"}[r.IntN(2)]}
	return pod
}

// another has another pod in the place of the one that there is.
func another(u *simulation.User, r *rand.Rand) {
	u.DeletePod(simulation.Web.Name, new(int64))
	u.CreateAs(anyPod(r))
}

// recreations is the resource of the requests that have containers stopped.
const recreations = "containerrecreaterequests"

// act is what users do in a step.
func act(u *simulation.User, r *rand.Rand) {
	pod, request := u.Workload().(*corev1.Pod), u.AnyObject(recreations, r)
	switch n := r.IntN(8); {
	case n == 0 || hasEnded(pod):
		another(u, r)
	case n == 4 && request != nil: // (ST-E10)
		u.DeleteObject(recreations, request.GetName(), metav1.DeletePropagationBackground)
	default:
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"annotations":{"note":"%d"}}}`, r.IntN(9)))
	}
}

// actOnNode has the kubelet of a pod, or the agent of its node, do one thing. A kubelet knows after 20 s that its pod was given a phase. In the
// end there are no random numbers.
func actOnNode(u *simulation.User, pod *corev1.Pod, r *rand.Rand) {
	if pod.DeletionTimestamp != nil || len(pod.Status.ContainerStatuses) < len(pod.Spec.Containers) {
		return
	}
	next, given := pod.DeepCopy(), conditionOf(pod, v1alpha1.SidecarTerminatedCondition)
	what := "has a container end or start"
	switch {
	case unaware(pod) && (r == nil && pod.Labels["learns"] != "late" || r != nil && r.IntN(3) == 0 || time.Since(given.LastTransitionTime.Time) >= 20*time.Second):
		learn(next)
		what = "learns of the phase"
	case unaware(pod) && (r == nil || r.IntN(2) == 0):
		return
	case unaware(pod): // it writes what it knows (ST-13.1)
		next.Status.Phase = corev1.PodRunning
		what = "does not know the phase"
	default:
		if r != nil && r.IntN(2) == 0 || !goOn(next, r) {
			actAsAgent(u, pod, next)
		}
		next.Status.Phase = kubeletPhase(next)
	}
	if !reflect.DeepEqual(pod.Status, next.Status) {
		u.UpdatePod("kubelet: "+what, next)
	}
}

// goOn has containers start that are to, or one end, and tells whether any did. In the end, main containers that start again do not fail.
func goOn(pod *corev1.Pod, r *rand.Rand) bool {
	before := fmt.Sprint(pod.Status)
	if runContainers(pod, unpullable); before != fmt.Sprint(pod.Status) || hasEnded(pod) {
		return before != fmt.Sprint(pod.Status)
	}
	inTheEnd, policy := r == nil, pod.Spec.RestartPolicy
	for i := range pod.Spec.Containers {
		c, s := &pod.Spec.Containers[i], &pod.Status.ContainerStatuses[i]
		switch {
		case s.State.Running == nil, inTheEnd && (isMarked(c) || pod.Labels["ends"] == "false" || policy == corev1.RestartPolicyAlways), !inTheEnd && r.IntN(3) > 0:
		case inTheEnd && policy == corev1.RestartPolicyOnFailure, isMarked(c) && r.IntN(9) == 0:
			end(s, 0)
			return true
		case !isMarked(c):
			end(s, tag(c.Image))
			return true
		}
	}
	return false
}

// actAsAgent has the agent of a pod's node go on with its requests, and what admission and the manager do about them. A dead one does nothing, and of
// a silent one the manager says so.
func actAsAgent(u *simulation.User, pod, next *corev1.Pod) {
	for _, o := range u.Objects(recreations) {
		request := o.(*lifecyclev1alpha1.ContainerRecreateRequest)
		if request.Name != v1alpha1.SidecarTerminationRequestPrefix+string(pod.UID) || request.Status.CompletionTime != nil || pod.Labels["agent"] == "dead" {
			continue
		}
		if request.Spec.Containers[0].StatusContext == nil {
			filled := request.DeepCopy()
			fillIn(filled, pod)
			data, _ := json.Marshal(map[string]any{"spec": filled.Spec}) // which always encodes
			u.Patch(recreations, request.Name, string(data))
			continue
		}
		over := time.Since(request.CreationTimestamp.Time) >= time.Minute
		if pod.Labels["agent"] != "silent" {
			stopContainers(request, next)
			over = reflect.DeepEqual(pod.Status, next.Status)
		}
		if over {
			u.Patch(recreations, request.Name, fmt.Sprintf(`{"status":{"phase":"Completed","completionTime":%q}}`, time.Now().UTC().Format(time.RFC3339)), "status")
		}
	}
}
