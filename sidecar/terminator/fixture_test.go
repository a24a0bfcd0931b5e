// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"cmp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// at is now in the tests of plans.
var at = time.Date(2023, 3, 31, 12, 0, 0, 0, time.UTC)

// exitImage is the image that sidecars exit with.
const exitImage = "exit:1"

// The nodes of the tests, by name.
var nodes = map[string]*corev1.Node{
	"real":    {ObjectMeta: metav1.ObjectMeta{Name: "real"}},
	"virtual": {ObjectMeta: metav1.ObjectMeta{Name: "virtual", Labels: map[string]string{"type": "virtual-kubelet"}}},
}

// podOf returns a Running pod on the node real. The text is its restart policy and its
// containers, each of them
//
//	name[=marks]:state[@restarts]
//
// Marks are r for "by a request", i for "by an image" and x for "its exit code does not count". They stand in the
// order of the environment. I stands for an image that is set already, M for one under the name of a mirror. The state
// is running, an exit code, or the reason for which it waits.
func podOf(t testing.TB, text string) *corev1.Pod {
	t.Helper()
	policy, containers, _ := strings.Cut(text, " ")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid", ResourceVersion: "7"},
		Spec:       corev1.PodSpec{NodeName: "real", RestartPolicy: corev1.RestartPolicy(policy), TerminationGracePeriodSeconds: new(int64(5))},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for word := range strings.FieldsSeq(containers) {
		name, state, _ := strings.Cut(word, ":")
		name, marks, _ := strings.Cut(name, "=")
		pod.Spec.Containers = append(pod.Spec.Containers, containerOf(name, marks))
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, statusOf(t, name, state))
	}
	return pod
}

func containerOf(name, marks string) corev1.Container {
	c := corev1.Container{Name: name, Image: name + ":1"}
	for _, mark := range marks {
		switch mark {
		case 'r':
			c.Env = append(c.Env, corev1.EnvVar{Name: v1alpha1.TerminateSidecarEnv, Value: "true"})
		case 'x':
			c.Env = append(c.Env, corev1.EnvVar{Name: v1alpha1.TerminateSidecarIgnoreExitCodeEnv, Value: "True"})
		case 'M':
			c.Image = "mirror.example/" + exitImage
			c.Env = append(c.Env, corev1.EnvVar{Name: v1alpha1.TerminateSidecarWithImageEnv, Value: exitImage})
		case 'I':
			c.Image = exitImage
			fallthrough
		case 'i':
			c.Env = append(c.Env, corev1.EnvVar{Name: v1alpha1.TerminateSidecarWithImageEnv, Value: exitImage})
		}
	}
	return c
}

func statusOf(t testing.TB, name, state string) corev1.ContainerStatus {
	t.Helper()
	state, restarts, _ := strings.Cut(state, "@")
	s := corev1.ContainerStatus{Name: name, ContainerID: "fake://" + name + "-" + restarts}
	if restarts != "" {
		s.RestartCount = int32(patches.Number(t, restarts))
	}
	switch code, err := strconv.Atoi(state); {
	case err == nil:
		s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: int32(code), FinishedAt: metav1.NewTime(at.Add(-10 * time.Second))}
	case state == "running":
		s.State.Running = &corev1.ContainerStateRunning{}
	case state != "":
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: state}
	}
	return s
}

// requestOf returns the request for containers of a pod, as admission leaves it, created
// some time ago.
func requestOf(pod *corev1.Pod, ago time.Duration, containers ...string) *lifecyclev1alpha1.ContainerRecreateRequest {
	r := newRequest(pod, containers)
	r.CreationTimestamp = metav1.NewTime(at.Add(-ago))
	for i := range r.Spec.Containers {
		c := &r.Spec.Containers[i]
		c.StatusContext = &lifecyclev1alpha1.ContainerRecreateRequestContainerContext{ContainerID: "fake://" + c.Name + "-"}
	}
	return r
}

// completed is the request when it is over.
func completed(r *lifecyclev1alpha1.ContainerRecreateRequest) *lifecyclev1alpha1.ContainerRecreateRequest {
	r.Status.Phase, r.Status.CompletionTime = lifecyclev1alpha1.ContainerRecreateRequestCompleted, &metav1.Time{Time: at}
	return r
}

// give does what apply does about a phase.
func give(pod *corev1.Pod, phase corev1.PodPhase, now time.Time) {
	pod.Status.Phase = phase
	if readiness.Condition(pod, v1alpha1.SidecarTerminatedCondition) == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: v1alpha1.SidecarTerminatedCondition, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now)})
	}
}

// describe says what a plan does.
func describe(p *Plan) string { return cmp.Or(p.String(), "nothing") }
