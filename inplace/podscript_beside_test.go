// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// beside plays another manager than the workload, which replaces images and has a record of its own:
//
//	init, native             makes an init container of c1, which ends, or a native sidecar
//	replace c1 image         replaces the image, and shows what is recorded
//	restarted seconds delay  the same of c1, which has a startup probe of that period. It has just begun to run the new image, and counts as started
//	recorded record          changes what is recorded: all of it
//	runs-it c1, stopped c1   show whether a container runs its image, or nothing
//	replacing                shows which container has still to take what it was given
//	underway                 shows whether the workload updates the pod, and since when
//	starting c1 age          shows how long the startup probe may take yet, of that container and of any
func (s *podScript) beside(verb, rest string) bool {
	first, more, _ := strings.Cut(rest, " ")
	recorded := func() *v1alpha1.State { return s.record }
	switch verb {
	case "init", "native":
		makeInit(s.pod, verb == "native")
	case "replace":
		s.replace(first, more)
		s.print("%s", patches.JSON(s.t, s.record))
	case "restarted":
		s.replace("c1", "c1:2")
		kubelet(s.pod)
		if s.pod.Spec.Containers[0].StartupProbe = nil; first != "none" {
			s.pod.Spec.Containers[0].StartupProbe = &corev1.Probe{
				PeriodSeconds: int32(patches.Number(s.t, first)), InitialDelaySeconds: int32(patches.Number(s.t, cmp.Or(more, "0")))}
		}
		c := &s.pod.Status.ContainerStatuses[0]
		c.Started, c.State.Running = new(true), &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(start())}
		c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ContainerID: "containerd://c1:1"}
	case "recorded":
		s.record = nil
		s.merge(rest, &s.record)
	case "runs-it":
		waiting, err := inplace.Running(s.pod, first, recorded)
		if err != nil {
			waiting = err.Error()
		}
		s.print("%s", cmp.Or(waiting, "it runs"))
	case "stopped":
		s.print("stopped %t", inplace.Stopped(s.pod, first))
	case "replacing":
		s.print("%s", cmp.Or(inplace.Replacing(s.pod, s.record), "nothing"))
	case "underway":
		if waiting, since := inplace.Underway(s.pod); waiting != "" {
			s.print("%s, since %s", waiting, since.Sub(start()))
			break
		}
		s.print("not underway")
	case "starting":
		age, err := time.ParseDuration(more)
		s.must(err)
		s.starting(first, start().Add(age))
	default:
		return false
	}
	return true
}

// replace has another manager replace an image. It is to write that only if the pod has not changed.
func (s *podScript) replace(container, image string) {
	var p podpatch.Patch
	s.must(inplace.Replace(&p, s.pod, container, image, s.record))
	if p.Images[container] == image != p.IfUnchanged || len(p.Images) == 0 != p.Empty() {
		s.t.Errorf("the image %s of container %s is written by\n%s", image, container, p)
	}
	s.print("%s", strings.ReplaceAll(p.String(), "\n", "; "))
	s.pod = apply(s.t, s.pod, p)
}

// starting shows how long startup probes may take yet, which is the same if c1 is a native sidecar.
func (s *podScript) starting(container string, now time.Time) {
	recorded := func() *v1alpha1.State { return s.record }
	left := inplace.Starting(s.pod, container, recorded, now)
	waiting, most := inplace.AnyStarting(s.pod, s.record, now)
	s.print("%s, any %s %s", left, most, waiting)
	native := s.pod.DeepCopy()
	makeInit(native, true)
	for range 10 { // records have no order
		again, all := inplace.AnyStarting(native, s.record, now)
		if again != waiting || all != most || inplace.Starting(native, container, recorded, now) != left {
			s.t.Errorf("of a native sidecar: %s %s", all, again)
		}
	}
}

// makeInit makes an init container of c1.
func makeInit(pod *corev1.Pod, native bool) {
	pod.Spec.InitContainers, pod.Spec.Containers = slices.Clone(pod.Spec.Containers[:1]), pod.Spec.Containers[1:]
	if n := min(1, len(pod.Status.ContainerStatuses)); n > 0 {
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = slices.Clone(pod.Status.ContainerStatuses[:n]), pod.Status.ContainerStatuses[n:]
	}
	if native {
		pod.Spec.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	}
}
