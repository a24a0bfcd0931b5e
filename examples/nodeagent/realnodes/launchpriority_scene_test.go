// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ready has a container become ready: it notes when, in seconds since the machine
// was started, and runs until it is told to stop.
const ready = "cat /proc/uptime >/ready; " + endsAtOnce

// after is ready, so many seconds after the start.
func after(seconds int) string { return fmt.Sprintf("sleep %d; %s", seconds, ready) }

// with is ready when another container has started as well.
func with(own, other string) string {
	return fmt.Sprintf("touch /shared/%s; until test -e /shared/%s; do sleep 0.1; done; %s", own, other, ready)
}

// prioritised gives containers their priorities, as "name=5", a volume that they
// share, and a probe that finds them ready once they say so.
func prioritised(spec *corev1.PodSpec, priorities ...string) {
	spec.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		c.VolumeMounts = []corev1.VolumeMount{{Name: "shared", MountPath: "/shared"}}
		c.ReadinessProbe = &corev1.Probe{
			PeriodSeconds: 1, FailureThreshold: 1, TimeoutSeconds: 10,
			ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-s", "/ready"}}},
		}
		for _, priority := range priorities {
			if name, value, _ := strings.Cut(priority, "="); name == c.Name {
				c.Env = append(c.Env, corev1.EnvVar{Name: lifecyclev1alpha1.ContainerPriorityEnv, Value: value})
			}
		}
	}
}

// priorities is prioritised for a pod.
func priorities(priorities ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { prioritised(&pod.Spec, priorities...) }
}

// started returns when the container that runs now was started, on the clock of
// the machine.
func (s *scene) started(pod *corev1.Pod, container string) time.Duration {
	s.Helper()
	stat := s.exec(pod, container, "cat", "/proc/1/stat")
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	ticks, err := strconv.ParseInt(fields[19], 10, 64) // the 22nd of all: hundredths of a second
	if err != nil {
		s.Fatalf("/proc/1/stat of container %s is %q: %v", container, stat, err)
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// becameReady returns when a container said that it is ready, on the same clock.
func (s *scene) becameReady(pod *corev1.Pod, container string) time.Duration {
	s.Helper()
	text, _, _ := strings.Cut(s.exec(pod, container, "cat", "/ready"), " ")
	at, err := time.ParseDuration(text + "s")
	if err != nil {
		s.Fatalf("/ready of container %s: %v", container, err)
	}
	return at
}

// inOrder wants that the containers of each level, as "main side", were started
// when all those of the level before were ready.
func (s *scene) inOrder(pod *corev1.Pod, levels ...string) {
	s.Helper()
	var latest time.Duration // at which a container of the level before became ready
	for _, level := range levels {
		next := latest
		for name := range strings.FieldsSeq(level) {
			started, ready := s.started(pod, name), s.becameReady(pod, name)
			s.Logf("%s/%s: container %s started at %s, ready at %s", s.Namespace, pod.Name, name, started, ready)
			if started < latest {
				s.Errorf("container %s of pod %s started %s before those above it were ready", name, pod.Name, latest-started)
			}
			next = max(next, ready)
		}
		latest = next
	}
}

// startedOnce wants that no container was ever restarted.
func (s *scene) startedOnce(pod *corev1.Pod) {
	s.Helper()
	for _, c := range pod.Spec.Containers {
		s.untouched(pod, c.Name)
	}
}

// refused waits until the kubelet has tried several times to start a container
// whose key is missing.
func (s *scene) refused(pod, container string) {
	s.Helper()
	const times = 3
	s.AwaitAsking(fmt.Sprintf("container %s of pod %s is refused %d times", container, pod, times), func() string {
		events, err := bed.Core.CoreV1().Events(s.Namespace).List(s.Context(), metav1.ListOptions{FieldSelector: "reason=Failed,involvedObject.name=" + pod})
		if err != nil {
			return err.Error()
		}
		var most int32
		for _, event := range events.Items {
			if event.InvolvedObject.FieldPath == "spec.containers{"+container+"}" && strings.Contains(event.Message, "couldn't find key") {
				most = max(most, event.Count)
			}
		}
		if most < times {
			return fmt.Sprintf("%d times", most)
		}
		return ""
	})
}

// heldBack wants that a container has never been started.
func (s *scene) heldBack(pod, container string) {
	s.Helper()
	now, found := s.Pods.Named(pod)
	status := corev1.ContainerStatus{}
	if found {
		status = podstate.ContainerStatus(now, container)
	}
	if status.State.Waiting == nil || status.ContainerID != "" || status.LastTerminationState.Terminated != nil {
		s.Errorf("container %s of pod %s was started: %+v", container, pod, status)
	}
}

// awaitContainer waits until a container is ready, or is not, after so many restarts.
func (s *scene) awaitContainer(pod, container string, ready bool, restarts int32) *corev1.Pod {
	s.Helper()
	return s.AwaitPod(pod, fmt.Sprintf("container %s: ready %t after %d restarts", container, ready, restarts), func(pod *corev1.Pod) string {
		if status := podstate.ContainerStatus(pod, container); status.State.Running == nil || status.Ready != ready || status.RestartCount != restarts {
			return fmt.Sprintf("%+v", status)
		}
		return ""
	})
}

// keys returns the keys that the containers of a pod were given so far, sorted.
func (s *scene) keys(pod string) (keys []string) {
	s.Helper()
	configMap, err := bed.Core.CoreV1().ConfigMaps(s.Namespace).Get(s.Context(), pod+"-barrier", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	for key := range configMap.Data {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// setImages gives all containers of the CloneSet web a new image.
func (s *scene) setImages() {
	s.Helper()
	image, _ := s.image("v2", registry.Image{})
	err := retry.RetryOnConflict(testbed.Conflicts, func() error {
		set, err := workloads.CloneSets(s.Namespace).Get(s.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for i := range set.Spec.Template.Spec.Containers {
			set.Spec.Template.Spec.Containers[i].Image = image
		}
		_, err = workloads.CloneSets(s.Namespace).Update(s.Context(), set, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
}

// updated waits until a pod of layered runs its new images, and wants that each
// container was restarted once, in order.
func (s *scene) updated(pod *corev1.Pod) {
	s.Helper()
	before := pod
	pod = s.AwaitPod(pod.Name, "updated", func(pod *corev1.Pod) string {
		if pod.Labels["controller-revision-hash"] == before.Labels["controller-revision-hash"] || !podstate.InService(pod) {
			return podstate.Describe(pod, false)
		}
		return ""
	})
	if pod.UID != before.UID {
		s.Errorf("pod %s was replaced", pod.Name)
	}
	s.inOrder(pod, levels...)
	var back time.Time // the last of the level before
	for _, level := range levels {
		next := back
		for name := range strings.FieldsSeq(level) {
			ended, started := s.restarted(pod, name, 1, 0)
			if ended.Before(back) {
				s.Errorf("container %s was stopped at %s, before those above it were back at %s", name, ended, back)
			}
			if started.After(next) {
				next = started
			}
		}
		back = next
	}
}
