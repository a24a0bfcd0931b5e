// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// debug has a shell command run in all pods of the CloneSet web at once. If target names a container, the command runs among the
// processes of that container, and ends with the first of them.
func (s *scene) debug(name, image, command, target string) {
	s.Helper()
	job := &v1alpha1.EphemeralJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.EphemeralJobSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Parallelism: new(int32(2)),
		Template: v1alpha1.EphemeralContainerTemplateSpec{EphemeralContainers: []corev1.EphemeralContainer{{TargetContainerName: target,
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: image, Command: []string{"sh", "-c", command}}}}}}}
	if _, err := lifecycle.EphemeralJobs(s.Namespace).Create(s.Context(), job, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
}

// debugEnds waits until an EphemeralJob has ended, and returns its status.
func (s *scene) debugEnds(name string) (status v1alpha1.EphemeralJobStatus) {
	s.Helper()
	s.AwaitAsking("EphemeralJob "+name+" ends", func() string {
		job, err := lifecycle.EphemeralJobs(s.Namespace).Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if status = job.Status; status.CompletionTime == nil {
			return fmt.Sprintf("%+v", status)
		}
		return ""
	})
	return status
}

// A job looks into the processes of containers that run, and tells with what it ended. Neither it nor what has ended is
// touched when a pod is updated in place or its container is recreated, and both go on. (EJ-16, EJ-23, EJ-25)
func TestEphemeralJob(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	image, _ := s.image("shell", registry.Image{})
	other, _ := s.image("other", registry.Image{})
	set := cloneSet("web", image, 2)
	set.Spec.Template.Spec.Containers = shells(image, "main="+endsAtOnce)
	pods := s.run(set)

	s.debug("looks", image, "grep -q sleep /proc/1/cmdline && echo found > /dev/termination-log; exit 3", "main")
	status := s.debugEnds("looks")
	if status.Phase != v1alpha1.EphemeralJobFailed || status.Failed != 2 || len(status.PodResults) != 2 {
		t.Fatalf("EJ-16: status %+v", status)
	}
	for _, r := range status.PodResults {
		if r.ExitCode == nil || *r.ExitCode != 3 || r.Message != "found\n" {
			t.Errorf("EJ-23: %+v: it was to see the processes of main and end with 3", r)
		}
	}

	s.debug("stays", image, doesNotEnd, "")
	for _, pod := range pods {
		s.AwaitPod(pod.Name, "stays is running", stays)
	}
	s.edit("web", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":%q,"command":["sh","-c",%q]}]}}}}`, other, endsAtOnce))
	for _, pod := range pods {
		now := s.AwaitPod(pod.Name, "it is updated in place", func(pod *corev1.Pod) string {
			if pod.Spec.Containers[0].Image != other || podstate.ContainerStatus(pod, "main").RestartCount != 1 || !podstate.InService(pod) {
				return podstate.Describe(pod, false)
			}
			return stays(pod)
		})
		s.completed(s.recreate(now, v1alpha1.ContainerRecreateRequestStrategy{}, "main"), now)
		s.AwaitPod(pod.Name, "its container is recreated", func(pod *corev1.Pod) string {
			if podstate.ContainerStatus(pod, "main").RestartCount != 2 {
				return podstate.Describe(pod, false)
			}
			return stays(pod)
		})
	}
}

// stays says what is wrong with the ephemeral containers of a pod: the first has ended, the second runs as it has from the beginning.
func stays(pod *corev1.Pod) string {
	running := func(s corev1.ContainerStatus) bool {
		return s.Name == "stays" && s.State.Running != nil && s.RestartCount == 0
	}
	ended := func(s corev1.ContainerStatus) bool {
		return s.Name == "looks" && s.State.Terminated != nil && s.State.Terminated.ExitCode == 3
	}
	statuses := pod.Status.EphemeralContainerStatuses
	if len(statuses) != 2 || !slices.ContainsFunc(statuses, running) || !slices.ContainsFunc(statuses, ended) {
		return fmt.Sprintf("%s: %+v", podstate.Describe(pod, false), statuses)
	}
	return ""
}
