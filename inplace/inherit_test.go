// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

func TestBeginTakesOver(t *testing.T) {
	first := template(image(0, "c1:2"), image(1, "c2:2"))
	ordered := []func(*corev1.Pod){priority(0, "10"), priority(1, "0")}

	t.Run("IP-28: the state is new, image IDs are those reported now", func(t *testing.T) {
		pod := begin(t, running(template()), calculate(t, template(), first), 0)
		kubelet(pod)
		pod = begin(t, pod, calculate(t, first, template(image(0, "c1:3"), image(1, "c2:2"))), 0)
		want := map[string]v1alpha1.ContainerStatus{"c1": {ImageID: "id of c1:2"}}
		if diff := cmp.Diff(want, state(t, pod).LastContainerStatuses); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("IP-28: an image that waits is not forgotten", func(t *testing.T) {
		pod := begin(t, running(template(), ordered...), calculate(t, template(), first), 0)
		pod = begin(t, pod, calculate(t, first, template(image(0, "c1:3"), image(1, "c2:2"))), 0)
		if diff := cmp.Diff(map[string]string{"c2": "c2:2"}, state(t, pod).NextContainerImages); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("IP-28: an image that waits gives way to a newer one", func(t *testing.T) {
		pod := begin(t, running(template(), ordered...), calculate(t, template(), first), 0)
		pod = begin(t, pod, calculate(t, first, template(image(0, "c1:3"), image(1, "c2:3"))), 0)
		if diff := cmp.Diff(map[string]string{"c2": "c2:3"}, state(t, pod).NextContainerImages); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("IP-28: a container that has still to restart is waited for", func(t *testing.T) {
		pod := begin(t, running(template()), calculate(t, template(), template(image(0, "c1:2"))), 0)
		pod = begin(t, pod, calculate(t, template(image(0, "c1:2")), first), 0)
		want := map[string]v1alpha1.ContainerStatus{"c1": {ImageID: "id of c1:1"}, "c2": {ImageID: "id of c2:1"}}
		if diff := cmp.Diff(want, state(t, pod).LastContainerStatuses); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("IP-28, IP-45: a container whose startup probe is still to be asked is waited for", func(t *testing.T) {
		probed := func(pod *corev1.Pod) { pod.Spec.Containers[0].StartupProbe = &corev1.Probe{PeriodSeconds: 10} }
		pod := begin(t, running(template(), probed), calculate(t, template(), template(image(0, "c1:2"))), 0)
		was := pod.Status.ContainerStatuses[0].ContainerID
		kubelet(pod)
		s := &pod.Status.ContainerStatuses[0]
		s.Started, s.ContainerID = ptr.To(true), "runtime://restarted"
		s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ContainerID: was}
		for at, want := range map[int]bool{-14: true, -15: false} {
			s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(after(at))}
			next := begin(t, pod.DeepCopy(), calculate(t, template(image(0, "c1:2")), first), 0)
			if _, is := state(t, next).LastContainers["c1"]; is != want {
				t.Errorf("restarted %d s before: it is recorded: %t, want %t", -at, is, want)
			}
		}
	})
	t.Run("IP-28: a container that waits for its batch does not hold up the first one", func(t *testing.T) {
		pod := begin(t, running(template(), ordered...), calculate(t, template(), template(image(1, "c2:bad"))), 0)
		pod = begin(t, pod, calculate(t, template(image(1, "c2:bad")), first), 0)
		pod.Status.ContainerStatuses[0].Image, pod.Status.ContainerStatuses[0].ImageID = "c1:2", "id of c1:2"
		if pod, _ = refresh(t, pod, after(60)); images(pod) != "c1:2 c2:2 c3:1" {
			t.Errorf("the second batch was not written: %s", images(pod))
		}
	})
	t.Run("IP-28: the state of another revision says nothing", func(t *testing.T) {
		pod := begin(t, running(template(), ordered...), calculate(t, template(), first), 0)
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] = "demo-other"
		pod = begin(t, pod, calculate(t, first, template(image(0, "c1:3"), image(1, "c2:2"))), 0)
		if next := state(t, pod).NextContainerImages; next != nil {
			t.Errorf("images were inherited: %v", next)
		}
	})
}

func TestBeginTakesOverMetadata(t *testing.T) {
	both := []change{env(1, "K", "metadata.labels['k']"), env(1, "A", "metadata.annotations['a']")}
	with := func(changes ...change) *corev1.PodTemplateSpec { return template(append(both[:2:2], changes...)...) }
	second := with(image(0, "c1:2"), label("k", "w"), annotate("a", "c"))
	waiting := func(t *testing.T, to *corev1.PodTemplateSpec) v1alpha1.State {
		pod := begin(t, running(with(), priority(0, "10"), priority(1, "0")), calculate(t, with(), second), 0)
		return state(t, begin(t, pod, calculate(t, second, to), 0))
	}
	for _, tt := range []struct {
		name string
		to   *corev1.PodTemplateSpec
		want map[string]metav1.ObjectMeta
	}{
		{
			"IP-28: metadata that waits is not forgotten", with(image(0, "c1:3"), label("k", "w"), annotate("a", "c")),
			map[string]metav1.ObjectMeta{"c2": {Labels: map[string]string{"k": "w"}, Annotations: map[string]string{"a": "c"}}},
		},
		{
			"IP-28: metadata that waits gives way to newer", with(image(0, "c1:3"), label("k", "x"), annotate("a", "c")),
			map[string]metav1.ObjectMeta{"c2": {Labels: map[string]string{"k": "x"}, Annotations: map[string]string{"a": "c"}}},
		},
		{
			"IP-28: metadata that waits gives way to a removal",
			with(image(0, "c1:3"), annotate("a", "c"), func(t *corev1.PodTemplateSpec) { delete(t.Labels, "k") }),
			map[string]metav1.ObjectMeta{"c2": {Annotations: map[string]string{"a": "c"}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := waiting(t, tt.to)
			if diff := cmp.Diff(tt.want, got.NextContainerRefMetadata); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !got.UpdateEnvFromMetadata {
				t.Error("nobody waits for the environment")
			}
		})
	}
	u := calculate(t, second, with(image(0, "c1:3"), label("k", "x"), annotate("a", "c")))
	pod := begin(t, running(with(), priority(0, "10"), priority(1, "0")), calculate(t, with(), second), 0)
	begin(t, pod, u, 0)
	if diff := cmp.Diff(map[string]metav1.ObjectMeta{"c2": {Labels: map[string]string{"k": "x"}}}, u.RefMetadata); diff != "" {
		t.Errorf("the update, which many pods share, was changed: %s", diff)
	}
}

func TestBeginTakesOverEnv(t *testing.T) {
	envK := env(0, "K", "metadata.labels['k']")
	second := template(envK, label("k", "w"))
	third := template(envK, label("k", "w"), image(1, "c2:2"))
	for _, tt := range []struct {
		name  string
		agent func(*testing.T, *corev1.Pod)
		want  bool
	}{
		{"IP-28: the agent has still to restart a container", func(*testing.T, *corev1.Pod) {}, true},
		{"IP-28: the agent is done", func(t *testing.T, pod *corev1.Pod) { agent(t, pod) }, false},
		{"IP-28: no agent", func(_ *testing.T, pod *corev1.Pod) {
			delete(pod.Annotations, v1alpha1.RuntimeContainersMetaAnnotation)
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := running(template(envK))
			agent(t, pod)
			pod = begin(t, pod, calculate(t, template(envK), second), 0)
			tt.agent(t, pod)
			pod = begin(t, pod, calculate(t, second, third), 0)
			if got := state(t, pod).UpdateEnvFromMetadata; got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}
