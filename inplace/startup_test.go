// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// restartedPod is a pod whose container c was restarted at a time by an update in place. Its kubelet says that it has started.
func restartedPod(at time.Time, native bool, probe *corev1.Probe) *corev1.Pod {
	pod := &corev1.Pod{}
	c := corev1.Container{Name: "c", Image: "c:2", StartupProbe: probe}
	s := corev1.ContainerStatus{Name: "c", Image: "c:2", ImageID: "id-2", ContainerID: "runtime://2", Ready: true, Started: ptr.To(true),
		State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at)}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ContainerID: "runtime://1"}}}
	if native {
		c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		pod.Spec.InitContainers, pod.Status.InitContainerStatuses = []corev1.Container{c}, []corev1.ContainerStatus{s}
	} else {
		pod.Spec.Containers, pod.Status.ContainerStatuses = []corev1.Container{c}, []corev1.ContainerStatus{s}
	}
	return pod
}

func restartedState() *v1alpha1.State {
	return &v1alpha1.State{LastContainers: map[string]v1alpha1.LastContainer{"c": {ContainerID: "runtime://1", Images: []string{"c:1"}}},
		LastContainerStatuses: map[string]v1alpha1.ContainerStatus{"c": {ImageID: "id-1"}}}
}

// Whether the word of the kubelet counts that a container has started. (IP-45)
func TestStarting(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	every := func(period, delay int32) *corev1.Probe {
		return &corev1.Probe{PeriodSeconds: period, InitialDelaySeconds: delay}
	}
	status := func(change func(*corev1.ContainerStatus)) func(*corev1.Pod, *v1alpha1.State) {
		return func(pod *corev1.Pod, _ *v1alpha1.State) {
			for _, all := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
				for i := range all {
					change(&all[i])
				}
			}
		}
	}
	for _, test := range []struct {
		name   string
		probe  *corev1.Probe
		age    time.Duration
		change func(*corev1.Pod, *v1alpha1.State)
		want   time.Duration
	}{
		{"no startup probe", nil, 0, nil, 0},
		{"just restarted", every(10, 0), 0, nil, 15 * time.Second},
		{"the period alone has passed: the report may be on its way", every(10, 0), 10 * time.Second, nil, 5 * time.Second},
		{"the kubelet has asked", every(10, 0), 15 * time.Second, nil, 0},
		{"asked once a second", every(1, 0), time.Second, nil, 5 * time.Second},
		{"without a period it is the usual one", every(0, 0), 0, nil, 15 * time.Second},
		{"it cannot have succeeded before the delay", every(10, 60), 20 * time.Second, nil, 40 * time.Second},
		{"a delay shorter than the period", every(30, 10), 0, nil, 35 * time.Second},
		{"the node's clock is ahead", every(10, 0), -2 * time.Second, nil, 17 * time.Second},
		{"it says that it has not started", every(10, 0), 0, status(func(s *corev1.ContainerStatus) { s.Started = ptr.To(false) }), 0},
		{"it says nothing", every(10, 0), 0, status(func(s *corev1.ContainerStatus) { s.Started = nil }), 0},
		{"it does not run", every(10, 0), 0, status(func(s *corev1.ContainerStatus) { s.State.Running = nil }), 0},
		{"it has run nothing before", every(10, 0), 0, status(func(s *corev1.ContainerStatus) { s.LastTerminationState.Terminated = nil }), 0},
		{"it has crashed since the update", every(10, 0), 0, status(func(s *corev1.ContainerStatus) { s.LastTerminationState.Terminated.ContainerID = "runtime://2" }), 0},
		{"it is the recorded one: an update before may have restarted it", every(10, 0), 0, func(_ *corev1.Pod, s *v1alpha1.State) {
			s.LastContainers["c"] = v1alpha1.LastContainer{ContainerID: "runtime://2"}
		}, 15 * time.Second},
		{"another container was updated", every(10, 0), 0, func(_ *corev1.Pod, s *v1alpha1.State) { s.LastContainers = map[string]v1alpha1.LastContainer{"d": {}} }, 0},
		{"it had no container", every(10, 0), 0, func(_ *corev1.Pod, s *v1alpha1.State) { s.LastContainers["c"] = v1alpha1.LastContainer{} }, 0},
		{"the kubelet has reported nothing", every(10, 0), 0, func(pod *corev1.Pod, _ *v1alpha1.State) { pod.Status = corev1.PodStatus{} }, 0},
	} {
		for _, native := range []bool{false, true} {
			pod, state := restartedPod(start, native, test.probe), restartedState()
			if test.change != nil {
				test.change(pod, state)
			}
			now := start.Add(test.age)
			if got := Starting(pod, "c", func() *v1alpha1.State { return state }, now); got != test.want {
				t.Errorf("%s, native %v: %s, want %s", test.name, native, got, test.want)
			}
			waiting, left := AnyStarting(pod, state, now)
			if want := test.want > 0; left != test.want || (waiting != "") != want || want && waiting != StartingWords("c") {
				t.Errorf("%s, native %v: any: %q %s, want %s", test.name, native, waiting, left, test.want)
			}
		}
	}
	pod := restartedPod(start, false, every(10, 0))
	if left := Starting(pod, "c", func() *v1alpha1.State { return nil }, start); left != 0 {
		t.Errorf("not updated in place: %s", left)
	}
	if waiting, left := AnyStarting(pod, nil, start); waiting != "" || left != 0 {
		t.Errorf("not updated in place: %q %s", waiting, left)
	}
}

// Of several the one that takes longest is waited for, and of equal ones the first by name. (IP-45)
func TestAnyStarting(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	pod, state := restartedPod(start, false, &corev1.Probe{PeriodSeconds: 1}), restartedState()
	for name, period := range map[string]int32{"b": 20, "a": 20} {
		c, s := pod.Spec.Containers[0], pod.Status.ContainerStatuses[0]
		c.Name, s.Name, c.StartupProbe = name, name, &corev1.Probe{PeriodSeconds: period}
		pod.Spec.Containers, pod.Status.ContainerStatuses = append(pod.Spec.Containers, c), append(pod.Status.ContainerStatuses, s)
		state.LastContainers[name] = state.LastContainers["c"]
	}
	if waiting, left := AnyStarting(pod, state, start); waiting != StartingWords("a") || left != 25*time.Second {
		t.Errorf("%q, %s", waiting, left)
	}
}

// A pod is not put back into service, and its next containers do not begin, before the kubelet has asked the startup probe. The
// wait ends, and without a startup probe there is none. (IP-45, IP-18, IP-26)
func TestRefreshStarting(t *testing.T) {
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name  string
		probe *corev1.Probe
		age   time.Duration
		next  bool
		want  Progress
	}{
		{"just restarted", &corev1.Probe{PeriodSeconds: 10}, 500 * time.Millisecond, false, Progress{RequeueAfter: 15 * time.Second, Waiting: StartingWords("c")}},
		{"asked", &corev1.Probe{PeriodSeconds: 10}, 15 * time.Second, false, Progress{Complete: true}},
		{"no probe", nil, 0, false, Progress{Complete: true}},
		{"with a next batch", &corev1.Probe{PeriodSeconds: 10}, 0, true, Progress{RequeueAfter: 15 * time.Second, Waiting: StartingWords("c")}},
		{"asked, with a next batch", &corev1.Probe{PeriodSeconds: 10}, 15 * time.Second, true, Progress{Waiting: "the next batch is written, of d"}},
	} {
		pod, state := restartedPod(start, false, test.probe), restartedState()
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: v1alpha1.InPlaceUpdateReady}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: v1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse}}
		if test.next {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "d", Image: "d:1"})
			state.NextContainerImages = map[string]string{"d": "d:2"}
			state.PreCheckBeforeNext = &v1alpha1.PreCheck{ContainersRequiredReady: []string{"c"}}
		}
		record := &podpatch.Patch{}
		if err := writeState(record, pod, state); err != nil {
			t.Fatal(err)
		}
		pod, err := record.Apply(pod)
		if err != nil {
			t.Fatal(err)
		}
		patch := &podpatch.Patch{}
		got, err := Refresh(patch, pod, start.Add(test.age))
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v, want %+v", test.name, got, err, test.want)
		}
		if served := len(patch.Conditions) > 0; served != test.want.Complete {
			t.Errorf("%s: conditions %+v", test.name, patch.Conditions)
		}
	}
}
