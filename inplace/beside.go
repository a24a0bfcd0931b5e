// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// Running says in words why a container does not run the image of the spec yet; empty if
// it does (IP-24). It is for those who replace images beside the workload of a pod and
// have records of their own. The container may be a native sidecar. state is called if it is needed, and returns what Replace
// made of them, nil for nothing. A container that is not recorded there runs what it was
// created with, once it has a status. The error says which report of the node agent cannot
// be read.
func Running(pod *corev1.Pod, name string, state func() *v1alpha1.State) (waiting string, err error) {
	c, status := podstate.Lasting(pod, name), podstate.LastingStatus(pod, name)
	switch {
	case c == nil:
		return "", nil
	case status == nil:
		return fmt.Sprintf("container %s: no status is reported", name), nil
	case started(status) && reports(status, c.Image) && !behind(pod) && pod.Annotations[v1alpha1.RuntimeContainersMetaAnnotation] == "":
		return "", nil // as imageWaiting says, whatever is recorded
	}
	recorded := state()
	if recorded == nil {
		return "", nil
	}
	if _, is := recorded.LastContainerStatuses[name]; !is {
		if _, is = recorded.LastContainers[name]; !is {
			return "", nil
		}
	}
	meta, err := readMeta(pod)
	if err != nil {
		return "", err
	}
	return imageWaiting(pod, name, recorded, meta)
}

// Replacing says in words which container of a pod does not run yet what Replace made of it,
// by what that recorded in state. Empty if all do. It costs as much as Running for each
// container. A report of the node agent that cannot be read leaves open what a container runs.
func Replacing(pod *corev1.Pod, state *v1alpha1.State) (waiting string) {
	for _, name := range recorded(state) {
		waiting, err := Running(pod, name, func() *v1alpha1.State { return state })
		if err != nil {
			return err.Error()
		}
		if waiting != "" {
			return waiting
		}
	}
	return ""
}

// Stopped tells whether a container runs nothing, as far as the kubelet has reported.
func Stopped(pod *corev1.Pod, name string) bool {
	status := podstate.LastingStatus(pod, name)
	return status == nil || status.State.Running == nil && !status.Ready
}

// Replace replaces the image of a container or native sidecar, and records in state what it ran before
// (IP-13). It is for those who replace images beside the workload of a pod. The write is
// refused if the pod has changed since. Nothing is done if the image stands.
func Replace(p *podpatch.Patch, pod *corev1.Pod, name, image string, state *v1alpha1.State) error {
	c := podstate.Lasting(pod, name)
	if c == nil || c.Image == image {
		return nil
	}
	waiting, err := Running(pod, name, func() *v1alpha1.State { return state })
	if err != nil {
		return err
	}
	if waiting == "" { // what was recorded of an update that is complete tells nothing any more
		delete(state.LastContainers, name)
		delete(state.LastContainerStatuses, name)
	}
	recordImages(p, pod, state, map[string]string{name: image})
	p.SetImage(name, image)
	return nil
}

// Underway says in words what an in-place update of a pod by its workload waits for, and
// when it began. It began with the first write of it, the condition, which has no state yet or that
// of an update before. Empty if none is under way. Of a pod whose records cannot be read
// nothing is known: then none is. Unlike Complete it does not take a pod that is in service for
// one whose update is complete. A manager that read older data may have put it there.
func Underway(pod *corev1.Pod) (waiting string, since time.Time) {
	state, err := readState(pod)
	if err != nil {
		return "", time.Time{}
	}
	if state != nil {
		since = state.UpdateTimestamp.Time
	}
	complete, waiting, err := Consistent(pod)
	condition := readiness.Condition(pod, v1alpha1.InPlaceUpdateReady)
	switch {
	case err != nil:
		return "", time.Time{}
	case Settled(pod) && state != nil:
		if waiting, err = containersWaiting(pod, state); err != nil {
			return "", time.Time{}
		}
	case complete && (condition == nil || condition.Status == corev1.ConditionTrue):
		return "", time.Time{}
	case complete:
		waiting = fmt.Sprintf("the condition %s is %s", condition.Type, condition.Status)
		if condition.LastTransitionTime.After(since) {
			since = condition.LastTransitionTime.Time
		}
	}
	return waiting, since
}
