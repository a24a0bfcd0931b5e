package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/evaluate/display"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/cloneset"
)

// halfWay is a snapshot in the middle of a rollout: of ten pods one is updated,
// one is on its way, and one of the old ones cannot start.
func halfWay(t *testing.T) *cloneset.Snapshot {
	set, err := createSet(t.Context(), fake.NewClient(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	set.UID = "uid-web"
	s := &cloneset.Snapshot{Set: set, Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	old := cloneset.NewPlan(s).Revisions.Create
	s.Revisions = append(s.Revisions, old)
	set.Status.CurrentRevision = old.Name
	set.Spec.Template.Spec.Containers[0].Image = newImage
	update := cloneset.NewPlan(s).Revisions.Create
	s.Revisions = append(s.Revisions, update)

	for i := range replicas {
		s.Pods = append(s.Pods, pod(fmt.Sprint("web-", i), oldImage, old.Name))
	}
	done, moving, broken := s.Pods[0], s.Pods[1], s.Pods[9]
	*done = *pod(done.Name, newImage, update.Name)
	done.Status.ContainerStatuses[0].RestartCount = 1
	*moving = *pod(moving.Name, newImage, update.Name)
	setCondition(moving, corev1.PodReady, corev1.ConditionFalse)
	setCondition(moving, inplacev1alpha1.InPlaceUpdateReady, corev1.ConditionFalse)
	setCondition(broken, corev1.PodReady, corev1.ConditionFalse)
	broken.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
	return s
}

func pod(name, image, revision string) *corev1.Pod {
	controller := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "demo", Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{"app": "web", "controller-revision-hash": revision, "lifecycle.apps.kruise.io/state": "Normal"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: setName, UID: "uid-web", Controller: &controller,
			}},
		},
		Spec: corev1.PodSpec{NodeName: "node-0", Containers: []corev1.Container{{Name: container, Image: image}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.1",
			ContainerStatuses: []corev1.ContainerStatus{{Name: container, Image: image}},
		},
	}
	setCondition(pod, corev1.PodReady, corev1.ConditionTrue)
	setCondition(pod, inplacev1alpha1.InPlaceUpdateReady, corev1.ConditionTrue)
	return pod
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

func TestView(t *testing.T) {
	var out strings.Builder
	for _, line := range display.Render(newView(halfWay(t)), display.PlainWidth, 0) {
		fmt.Fprintln(&out, line.Text)
	}
	want := `
[#~!.......] 2 of 10 updated, 8 ready, 2 unavailable

POD    REVISION    IMAGE         STATE             RESTARTS  NODE    IP        WAITS
web-0  76f4b46c47  busybox:1.37  ready                    1  node-0  10.0.0.1
web-1  76f4b46c47  busybox:1.37  updating                 0  node-0  10.0.0.1
web-2  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-3  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-4  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-5  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-6  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-7  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-8  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-9  854fb79cb4  busybox:1.36  CrashLoopBackOff         0  node-0  10.0.0.1

a  7 pods wait: maxUnavailable 2: 1 pod at the update revision is unavailable already and 1 pod is updated now
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestStates(t *testing.T) {
	now := metav1.Now()
	waiting := func(reason string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			setCondition(p, corev1.PodReady, corev1.ConditionFalse)
			p.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: reason}
		}
	}
	cases := map[string]struct {
		edit  func(*corev1.Pod)
		state string
		mood  display.Mood
	}{
		"ready":         {func(*corev1.Pod) {}, "ready", display.Old},
		"being deleted": {func(p *corev1.Pod) { p.DeletionTimestamp = &now }, "terminating", display.Moving},
		"gate withdrawn": {func(p *corev1.Pod) {
			waiting("")(p)
			setCondition(p, inplacev1alpha1.InPlaceUpdateReady, corev1.ConditionFalse)
		}, "updating", display.Moving},
		"no status yet":   {func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }, "starting", display.Moving},
		"being created":   {waiting("ContainerCreating"), "starting", display.Moving},
		"no such image":   {waiting("ImagePullBackOff"), "ImagePullBackOff", display.Broken},
		"crashes forever": {waiting("CrashLoopBackOff"), "CrashLoopBackOff", display.Broken},
	}
	for name, c := range cases {
		p := pod("web-0", oldImage, "web-1")
		c.edit(p)
		if state, mood := stateOf(p); state != c.state || mood != c.mood {
			t.Errorf("%s: got %q and mood %d, want %q and %d", name, state, mood, c.state, c.mood)
		}
	}
}
