package main

import (
	"cmp"
	"path"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/evaluate/display"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// newView shows a workload, and what its plan says of the pods that do not move.
func newView(s *state) display.View {
	v := display.View{Replicas: 1, MaxUnavailable: -1, MostUnavailable: -1}
	if s.replicas != nil {
		v.Replicas = int(*s.replicas)
	}
	for _, problem := range s.problems {
		v.Notes = append(v.Notes, problem.Error())
	}
	waits := map[*corev1.Pod]*rollout.Reason{}
	for _, w := range s.waiting {
		if w.Pod == nil {
			v.Notes = append(v.Notes, "pods are not created yet: "+w.Reason.String())
		} else if waits[w.Pod] == nil {
			waits[w.Pod] = w.Reason
		}
	}
	for _, pod := range slices.SortedFunc(slices.Values(s.pods), byName) {
		row := newRow(pod, s.update, waits[pod])
		if isUpdated(pod, s.update) {
			v.Updated++
		}
		if available(pod) {
			v.Ready++
		}
		v.Rows = append(v.Rows, row)
	}
	v.Unavailable = max(v.Replicas-v.Ready, 0)
	return v
}

// byName puts web-9 before web-10. Other names of one workload are equally long.
func byName(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
}

func newRow(pod *corev1.Pod, update *appsv1.ControllerRevision, wait *rollout.Reason) display.Row {
	row := display.Row{Pod: pod.Name, Revision: revision.ShortHash(pod.Labels[appsv1.ControllerRevisionHashLabelKey]), Node: pod.Spec.NodeName, IP: pod.Status.PodIP}
	if len(pod.Spec.Containers) > 0 {
		row.Image = path.Base(pod.Spec.Containers[0].Image)
	}
	for i := range pod.Status.ContainerStatuses {
		row.Restarts += pod.Status.ContainerStatuses[i].RestartCount
	}
	row.State, row.Mood = stateOf(pod)
	if row.Mood == display.Old && isUpdated(pod, update) {
		row.Mood = display.Changed
	}
	// That a pod is being updated stands in its state already.
	if wait != nil && (row.Mood == display.Old || row.Mood == display.Changed) {
		row.Wait = &display.Wait{Rule: string(wait.Rule), Message: wait.String()}
	}
	return row
}

// stateOf says in a word what becomes of a pod.
func stateOf(pod *corev1.Pod) (string, display.Mood) {
	if pod.DeletionTimestamp != nil {
		return "terminating", display.Moving
	}
	for i := range pod.Status.ContainerStatuses {
		if waiting := pod.Status.ContainerStatuses[i].State.Waiting; waiting != nil && troubles[waiting.Reason] {
			return waiting.Reason, display.Broken
		}
	}
	if available(pod) {
		return "ready", display.Old
	}
	if gate := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady); gate != nil && gate.Status != corev1.ConditionTrue {
		return "updating", display.Moving
	}
	return "starting", display.Moving
}

// troubles are the reasons why a container waits that do not pass by themselves.
var troubles = map[string]bool{
	"ImagePullBackOff": true, "ErrImagePull": true, "InvalidImageName": true, "ErrImageNeverPull": true,
	"CrashLoopBackOff": true, "RunContainerError": true, "CreateContainerError": true, "CreateContainerConfigError": true,
}

func available(pod *corev1.Pod) bool { return readiness.Ready(pod) && pod.DeletionTimestamp == nil }

func isUpdated(pod *corev1.Pod, update *appsv1.ControllerRevision) bool {
	return update != nil && revision.Matches(pod.Labels[appsv1.ControllerRevisionHashLabelKey], update.Name)
}
