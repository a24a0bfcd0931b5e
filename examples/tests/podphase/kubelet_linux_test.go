// SPDX-License-Identifier: Apache-2.0

package podphase

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/config"
	"k8s.io/kubernetes/pkg/kubelet/status"
	"k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/podwright/podwright/sidecar/terminator"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// finished is a pod whose main container has succeeded, while its sidecar runs.
func finished() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "work", UID: "u", Annotations: map[string]string{}},
		Spec: corev1.PodSpec{NodeName: "node-1", RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{
			{Name: "main", Image: "work:1"},
			{Name: "side", Image: "side:1", Env: []corev1.EnvVar{{Name: v1alpha1.TerminateSidecarEnv, Value: "true"}}},
		}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "main", ContainerID: "containerd://1", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
			{Name: "side", ContainerID: "containerd://2", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}},
	}
}

// given is the pod after it was given the phase Succeeded at a time.
func given(at time.Time) *corev1.Pod {
	pod := finished()
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.Conditions = []corev1.PodCondition{{Type: v1alpha1.SidecarTerminatedCondition, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)}}
	return pod
}

// The terminator tells by a condition that a kubelet knows the phase. The kubelet makes this condition of that phase, and
// another one of the phase Running. (ST-15.1)
func TestKubeletShowsThatItKnows(t *testing.T) {
	at := time.Now()
	for phase, want := range map[corev1.PodPhase]string{corev1.PodRunning: "", corev1.PodSucceeded: "stop [side]"} {
		pod := given(at)
		condition := status.GenerateContainersReadyCondition(pod, &pod.Status, pod.Status.ContainerStatuses, phase)
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
		if got := terminator.NewPlan(&terminator.Snapshot{Pod: pod, Node: &corev1.Node{}, Now: at}).String(); got != want {
			t.Errorf("a kubelet for which the pod is %s writes %+v, and the plan is %q, want %q", phase, condition, got, want)
		}
	}
}

// starts observes nothing.
type starts struct{}

func (starts) ObservedPodOnWatch(klog.Logger, *corev1.Pod, time.Time) {}

// The kubelet does not sync a pod whose status changes. It syncs one whose annotations change as well, so what writes the phase
// has to change one. (ST-13.1)
func TestKubeletActsOnAnnotations(t *testing.T) {
	kubelet := config.NewPodConfig(nil, starts{})
	source := kubelet.Channel(t.Context(), types.ApiserverSource)
	marked := given(time.Now())
	marked.Annotations[v1alpha1.SidecarPhaseWrittenAnnotation] = "now"
	for _, step := range []struct {
		name string
		pod  *corev1.Pod
		want types.PodOperation
	}{
		{"a new pod", finished(), types.ADD},
		{"its phase", given(time.Now()), types.RECONCILE},
		{"Running again", finished(), types.RECONCILE},
		{"its phase and an annotation", marked, types.UPDATE},
	} {
		source <- struct{ Pods []*corev1.Pod }{[]*corev1.Pod{step.pod}}
		update := <-kubelet.Updates()
		for len(update.Pods) == 0 { // that says that there was an answer
			update = <-kubelet.Updates()
		}
		if update.Op != step.want {
			t.Errorf("%s: the kubelet takes it for operation %d, want %d", step.name, update.Op, step.want)
		}
	}
}
