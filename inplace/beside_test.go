// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// besidePod is a pod whose container log runs log:v1.
func besidePod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", Generation: 2},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "log", Image: "log:v1"}}},
		Status: corev1.PodStatus{ObservedGeneration: 2, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "log", Image: "log:v1", ImageID: "id-1", ContainerID: "c1", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}},
	}
}

// Whether containers run the images that another manager beside the workload gave them. (IP-13, IP-24)
func TestRunning(t *testing.T) {
	for _, test := range []struct {
		name string
		act  func(*corev1.Pod, *corev1.ContainerStatus) // once the image is log:v2
		want string
	}{
		{"the old one runs", func(*corev1.Pod, *corev1.ContainerStatus) {}, "still runs image log:v1"},
		{"the new one runs", func(_ *corev1.Pod, s *corev1.ContainerStatus) {
			s.Image, s.ImageID, s.ContainerID = "log:v2", "id-2", "c2"
		}, ""},
		{"the same image in another container", func(_ *corev1.Pod, s *corev1.ContainerStatus) { s.ContainerID = "c2" }, ""},
		{"the same image under the new name", func(_ *corev1.Pod, s *corev1.ContainerStatus) { s.Image = "log:v2" }, ""},
		{"the same image under the new name, and the kubelet is behind", func(pod *corev1.Pod, s *corev1.ContainerStatus) {
			s.Image, pod.Generation = "log:v2", 3
		}, "the kubelet has not taken note of image log:v2"},
		{"no status", func(pod *corev1.Pod, _ *corev1.ContainerStatus) { pod.Status.ContainerStatuses = nil }, "no status is reported"},
		{"a report that cannot be read", func(pod *corev1.Pod, _ *corev1.ContainerStatus) {
			pod.Annotations = map[string]string{v1alpha1.RuntimeContainersMetaAnnotation: "{"}
		}, "runtime-containers-meta is not readable"},
		{"back to the old one", func(pod *corev1.Pod, _ *corev1.ContainerStatus) { pod.Spec.Containers[0].Image = "log:v1" }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod, state := besidePod(), &v1alpha1.State{}
			if err := Replace(&podpatch.Patch{}, pod, "log", "log:v2", state); err != nil {
				t.Fatal(err)
			}
			pod.Spec.Containers[0].Image = "log:v2"
			test.act(pod, &pod.Status.ContainerStatuses[0])
			got, err := Running(pod, "log", func() *v1alpha1.State { return state })
			if err != nil {
				got = err.Error()
			}
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	pod := besidePod()
	pod.Spec.Containers[0].Image = "log:v2"
	for name, state := range map[string]*v1alpha1.State{"nothing is recorded": nil, "another container is recorded": {}} {
		if got, err := Running(pod, "log", func() *v1alpha1.State { return state }); got != "" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := Running(pod, "none", nil); got != "" || err != nil {
		t.Errorf("no such container: %q, %v", got, err)
	}
}

// A native sidecar is judged by its own status, and one that ends is none. (IP-13, IP-24)
func TestRunningNative(t *testing.T) {
	pod, state, always := besidePod(), &v1alpha1.State{}, corev1.ContainerRestartPolicyAlways
	pod.Spec.Containers, pod.Spec.InitContainers = nil, pod.Spec.Containers
	pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = nil, pod.Status.ContainerStatuses
	p := &podpatch.Patch{}
	if err := Replace(p, pod, "log", "log:v2", state); err != nil || len(p.Images) > 0 {
		t.Errorf("one that ends: %v, %v", p, err)
	}
	c, status := &pod.Spec.InitContainers[0], &pod.Status.InitContainerStatuses[0]
	c.RestartPolicy = &always
	if err := Replace(p, pod, "log", "log:v2", state); err != nil || p.Images["log"] != "log:v2" || state.LastContainerStatuses["log"].ImageID != "id-1" || state.LastContainers["log"].ContainerID != "c1" {
		t.Errorf("replaced: %v, %+v, %v", p, state, err)
	}
	c.Image = "log:v2"
	running := func() string {
		waiting, err := Running(pod, "log", func() *v1alpha1.State { return state })
		if err != nil {
			t.Fatal(err)
		}
		return waiting
	}
	if got := running(); got != "container log: still runs image log:v1" {
		t.Errorf("the old one runs: %q", got)
	}
	status.Image, status.ImageID, status.ContainerID = "log:v2", "id-2", "c2"
	if got := running(); got != "" {
		t.Errorf("the new one runs: %q", got)
	}
	if Stopped(pod, "log") {
		t.Error("it runs, and is stopped")
	}
	if status.Ready, status.State.Running = false, nil; !Stopped(pod, "log") {
		t.Error("it does not run, and is not stopped")
	}
}

// What is recorded of an image that is replaced. (IP-13)
func TestReplace(t *testing.T) {
	pod, state, patch := besidePod(), &v1alpha1.State{}, &podpatch.Patch{}
	replace := func(image string, want ...string) {
		t.Helper()
		if err := Replace(patch, pod, "log", image, state); err != nil || !slices.Equal(state.LastContainers["log"].Images, want) || patch.Images["log"] != image || !patch.IfUnchanged {
			t.Errorf("recorded %v, error %v, want %v; patch %s", state, err, want, patch)
		}
		pod.Spec.Containers[0].Image = image
	}
	replace("log:v2", "log:v1")
	replace("log:v3", "log:v1", "log:v2") // log:v2 never ran, as far as is known
	pod.Status.ContainerStatuses[0].Image, pod.Status.ContainerStatuses[0].ImageID = "log:v3", "id-3"
	replace("log:v4", "log:v3")
	if id := state.LastContainerStatuses["log"].ImageID; id != "id-3" {
		t.Errorf("image ID %s", id)
	}
	patch = &podpatch.Patch{}
	if err := Replace(patch, pod, "log", "log:v4", state); err != nil || !patch.Empty() {
		t.Errorf("the same image: %s, %v", patch, err)
	}
	if err := Replace(patch, pod, "none", "log:v4", state); err != nil || !patch.Empty() {
		t.Errorf("no such container: %s, %v", patch, err)
	}
}

// Which container has still to take what it was given. (IP-33)
func TestReplacing(t *testing.T) {
	pod, state := besidePod(), &v1alpha1.State{}
	want := func(want string) {
		t.Helper()
		if got := Replacing(pod, state); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	want("")
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "mesh", Image: "mesh:v2"}) // nothing recorded
	if err := Replace(&podpatch.Patch{}, pod, "log", "log:v2", state); err != nil {
		t.Fatal(err)
	}
	pod.Spec.Containers[0].Image = "log:v2"
	want("container log: still runs image log:v1")
	pod.Annotations = map[string]string{v1alpha1.RuntimeContainersMetaAnnotation: "{"}
	if got := Replacing(pod, state); !strings.Contains(got, "not readable") {
		t.Errorf("a report that cannot be read: %q", got)
	}
	pod.Annotations = nil
	pod.Status.ContainerStatuses[0].Image, pod.Status.ContainerStatuses[0].ImageID = "log:v2", "id-2"
	want("")
}

// Whether a container runs nothing.
func TestStopped(t *testing.T) {
	for name, test := range map[string]struct {
		act  func(*corev1.ContainerStatus)
		want bool
	}{
		"running":         {func(*corev1.ContainerStatus) {}, false},
		"running unready": {func(s *corev1.ContainerStatus) { s.Ready = false }, false},
		"waiting": {func(s *corev1.ContainerStatus) {
			s.Ready, s.State = false, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
		}, true},
		"ended": {func(s *corev1.ContainerStatus) {
			s.Ready, s.State = false, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
		}, true},
		"waiting, as no state says": {func(s *corev1.ContainerStatus) { s.Ready, s.State = false, corev1.ContainerState{} }, true},
	} {
		pod := besidePod()
		test.act(&pod.Status.ContainerStatuses[0])
		if got := Stopped(pod, "log"); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Whether the workload of a pod updates it in place. (IP-25, IP-26)
func TestUnderway(t *testing.T) {
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	state, err := json.Marshal(v1alpha1.State{Revision: "web-2", UpdateTimestamp: metav1.NewTime(began),
		LastContainerStatuses: map[string]v1alpha1.ContainerStatus{"log": {ImageID: "id-1"}}})
	if err != nil {
		t.Fatal(err)
	}
	later := began.Add(time.Hour)
	gate := func(pod *corev1.Pod, status corev1.ConditionStatus) {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: v1alpha1.InPlaceUpdateReady}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: v1alpha1.InPlaceUpdateReady, Status: status, LastTransitionTime: metav1.NewTime(later)}}
	}
	const closed = "the condition InPlaceUpdateReady is False"
	for name, test := range map[string]struct {
		act   func(*corev1.Pod)
		want  string
		since time.Time
	}{
		"never":                              {func(pod *corev1.Pod) { pod.Annotations = nil }, "", time.Time{}},
		"without the gate":                   {func(*corev1.Pod) {}, "", time.Time{}},
		"without the gate, not complete":     {func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "log:v2" }, "container log: still runs image log:v1", began},
		"with the gate":                      {func(pod *corev1.Pod) { gate(pod, corev1.ConditionTrue) }, "", time.Time{}},
		"with the gate, complete and closed": {func(pod *corev1.Pod) { gate(pod, corev1.ConditionFalse) }, closed, later},
		"with the gate, not complete": {func(pod *corev1.Pod) {
			gate(pod, corev1.ConditionFalse)
			pod.Spec.Containers[0].Image = "log:v2"
		}, "container log: still runs image log:v1", began},
		"in service, not complete": {func(pod *corev1.Pod) { // a manager that read older data put it there
			gate(pod, corev1.ConditionTrue)
			pod.Spec.Containers[0].Image = "log:v2"
		}, "container log: still runs image log:v1", began},
		"a closed gate and no state":  {func(pod *corev1.Pod) { gate(pod, corev1.ConditionFalse); pod.Annotations = nil }, closed, later},
		"a state that cannot be read": {func(pod *corev1.Pod) { pod.Annotations[v1alpha1.StateAnnotation] = "{" }, "", time.Time{}},
	} {
		pod := besidePod()
		pod.Annotations = map[string]string{v1alpha1.StateAnnotation: string(state)}
		test.act(pod)
		got, since := Underway(pod)
		if got != test.want || got != "" && !since.Equal(test.since) {
			t.Errorf("%s: %q since %s, want %q since %s", name, got, since, test.want, test.since)
		}
	}
}
