// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", noon)

// newJob is a job that the controller has seen, for all pods of the label app=web.
func newJob() *v1alpha1.EphemeralJob {
	started := metav1.NewTime(noon.Add(-time.Minute))
	return &v1alpha1.EphemeralJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "job", Generation: 1, Finalizers: []string{v1alpha1.EphemeralJobFinalizer}},
		Spec: v1alpha1.EphemeralJobSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: v1alpha1.EphemeralContainerTemplateSpec{EphemeralContainers: []corev1.EphemeralContainer{container("debug")}},
		},
		Status: v1alpha1.EphemeralJobStatus{ObservedGeneration: 1, StartTime: &started,
			Conditions: []v1alpha1.EphemeralJobCondition{{Type: v1alpha1.EphemeralJobInitialized, Status: corev1.ConditionTrue}}},
	}
}

func container(name string) corev1.EphemeralContainer {
	return corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "busybox"}}
}

// jobOf returns a job with these lines of YAML in it.
func jobOf(t testing.TB, text string) *v1alpha1.EphemeralJob {
	t.Helper()
	job := newJob()
	if err := yaml.UnmarshalStrict([]byte(text), job); err != nil {
		t.Fatal(err)
	}
	return job
}

// newPod is a running pod, as old as its place says.
func newPod(name string, place int) *corev1.Pod {
	pod := podOn("node", name, "web")
	pod.UID, pod.Status.Phase = types.UID(name), corev1.PodRunning
	pod.CreationTimestamp = metav1.NewTime(noon.Add(time.Duration(place)*time.Second - time.Hour))
	return pod
}

// place builds a snapshot of a job and of pods, the oldest first. The notation of the pods is
// "p1 p2:running p3:exit1,exit0". What follows the colon is how far the containers of the job
// are, in the order of the template. It may also be something else about the pod.
func place(t testing.TB, job *v1alpha1.EphemeralJob, text string) *Snapshot {
	t.Helper()
	s := &Snapshot{Job: job, Now: noon}
	for word := range strings.FieldsSeq(text) {
		name, states, _ := strings.Cut(word, ":")
		pod := newPod(name, len(s.Pods))
		for i, state := range strings.FieldsFunc(states, func(r rune) bool { return r == ',' }) {
			alter(t, job, pod, i, state)
		}
		s.Pods = append(s.Pods, pod)
	}
	return s
}

func alter(t testing.TB, job *v1alpha1.EphemeralJob, pod *corev1.Pod, i int, state string) {
	t.Helper()
	if patches.Has[corev1.Pod](words, state) {
		*pod = *patches.Changed(words, pod, state)
		return
	}
	injected := containersFor(job)[i]
	pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, injected)
	if s := stateNamed(state); s != nil {
		pod.Status.EphemeralContainerStatuses = append(pod.Status.EphemeralContainerStatuses, corev1.ContainerStatus{Name: injected.Name, State: *s})
	}
}

// stateNamed is the state of a container that the kubelet reports; nil if it has not.
func stateNamed(name string) *corev1.ContainerState {
	if name == "injected" {
		return nil
	}
	code, exits := strings.CutPrefix(name, "exit")
	if !exits {
		return patches.Changed(words, &corev1.ContainerState{}, name)
	}
	n, _ := strconv.Atoi(code) // digits it has
	reason := map[bool]string{true: "Completed", false: "Error"}[n == 0]
	return &corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: int32(n), Reason: reason, Message: name, FinishedAt: metav1.NewTime(noon)}}
}

// show shows what a plan does, in a line.
func show(plan *Plan) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case plan.AddFinalizer:
		add("add the finalizer")
	case plan.RemoveFinalizer:
		add("remove the finalizer")
	}
	if plan.TryFirst {
		add("try")
	}
	for _, pod := range plan.Inject {
		add("+%s", pod.Name)
	}
	if s := plan.Status; s != nil {
		add("%s match=%d running=%d succeeded=%d waiting=%d failed=%d", s.Phase, s.Matches, s.Running, s.Succeeded, s.Waiting, s.Failed)
		if s.Skipped > 0 {
			add("skipped=%d", s.Skipped)
		}
		if s.CompletionTime != nil {
			add("finished")
		}
	}
	for _, e := range plan.Events {
		add("%q", e.Reason)
	}
	if plan.DeleteJob {
		add("delete the job")
	}
	if plan.RequeueAfter > 0 {
		add("again in %s", plan.RequeueAfter)
	}
	return strings.Join(out, " ")
}

// conditions shows conditions, without times.
func conditions(s *v1alpha1.EphemeralJobStatus) []string {
	out := []string{}
	for _, c := range s.Conditions {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message), ": "))
	}
	return out
}
