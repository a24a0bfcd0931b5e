package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/evaluate/display"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

func breakDown(pod *corev1.Pod, reason string) {
	setCondition(pod, corev1.PodReady, corev1.ConditionFalse)
	pod.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: reason}
}

// startUpdate takes a pod out of service for its update.
func startUpdate(pod *corev1.Pod) {
	setCondition(pod, corev1.PodReady, corev1.ConditionFalse)
	setCondition(pod, inplacev1alpha1.InPlaceUpdateReady, corev1.ConditionFalse)
}

func setCondition(pod *corev1.Pod, conditionType corev1.PodConditionType, status corev1.ConditionStatus) {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == conditionType {
			pod.Status.Conditions[i].Status = status
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: conditionType, Status: status})
}

// checkTable compares what is shown of a workload.
func checkTable(t *testing.T, s *state, want string) {
	t.Helper()
	lines := display.Render(newView(s), display.PlainWidth, 0)
	if diff := cmp.Diff(want, textOf(lines)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestStates(t *testing.T) {
	now := metav1.Now()
	waiting := func(reason string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { breakDown(p, reason) }
	}
	cases := map[string]struct {
		edit  func(*corev1.Pod)
		state string
		mood  display.Mood
	}{
		"ready":         {func(*corev1.Pod) {}, "ready", display.Old},
		"being deleted": {func(p *corev1.Pod) { p.DeletionTimestamp = &now }, "terminating", display.Moving},
		"gate withdrawn": {func(p *corev1.Pod) {
			breakDown(p, "")
			startUpdate(p)
		}, "updating", display.Moving},
		"no status yet":   {func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }, "starting", display.Moving},
		"being created":   {waiting("ContainerCreating"), "starting", display.Moving},
		"no such image":   {waiting("ImagePullBackOff"), "ImagePullBackOff", display.Broken},
		"crashes forever": {waiting("CrashLoopBackOff"), "CrashLoopBackOff", display.Broken},
	}
	for name, c := range cases {
		p := newWorld(t, &cloneSets).pod("web-0")
		c.edit(p)
		if state, mood := stateOf(p); state != c.state || mood != c.mood {
			t.Errorf("%s: got %q and mood %d, want %q and %d", name, state, mood, c.state, c.mood)
		}
	}
}
