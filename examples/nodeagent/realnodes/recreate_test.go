// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// recreate creates a request of the pod's name for containers of it.
func (s *scene) recreate(pod *corev1.Pod, strategy v1alpha1.ContainerRecreateRequestStrategy, containers ...string) *v1alpha1.ContainerRecreateRequest {
	s.Helper()
	r := &v1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: pod.Name + "-"},
		Spec:       v1alpha1.ContainerRecreateRequestSpec{PodName: pod.Name, Strategy: &strategy},
	}
	for _, name := range containers {
		r.Spec.Containers = append(r.Spec.Containers, v1alpha1.ContainerRecreateRequestContainer{Name: name})
	}
	r, err := lifecycle.ContainerRecreateRequests(s.Namespace).Create(s.Context(), r, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// awaitRequest waits until wrong says nothing more of a request, and returns it.
func (s *scene) awaitRequest(r *v1alpha1.ContainerRecreateRequest, expected string, wrong func(*v1alpha1.ContainerRecreateRequest) string) *v1alpha1.ContainerRecreateRequest {
	s.Helper()
	s.AwaitAsking("request "+r.Name+": "+expected, func() string {
		now, err := lifecycle.ContainerRecreateRequests(s.Namespace).Get(s.Context(), r.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		r = now
		return wrong(now)
	})
	return r
}

// completed waits for the end of a request, at which all its containers must be
// back in the same pod, and returns the pod.
func (s *scene) completed(r *v1alpha1.ContainerRecreateRequest, pod *corev1.Pod) *corev1.Pod {
	s.Helper()
	r = s.ends(r)
	for _, state := range r.Status.ContainerRecreateStates {
		if state.Phase != v1alpha1.ContainerRecreateRequestSucceeded || r.Status.Message != "" {
			s.Errorf("request %s ends with %+v", r.Name, r.Status)
		}
	}
	now, err := bed.Core.CoreV1().Pods(s.Namespace).Get(s.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	if now.UID != pod.UID || now.Status.PodIP != pod.Status.PodIP {
		s.Errorf("the pod was %s with the address %s, and is %s with %s", pod.UID, pod.Status.PodIP, now.UID, now.Status.PodIP)
	}
	return now
}

// ends waits for the end of a request, whatever it is.
func (s *scene) ends(r *v1alpha1.ContainerRecreateRequest) *v1alpha1.ContainerRecreateRequest {
	s.Helper()
	return s.awaitRequest(r, "completed", func(r *v1alpha1.ContainerRecreateRequest) string {
		if r.Status.CompletionTime == nil || r.Status.Phase != v1alpha1.ContainerRecreateRequestCompleted {
			return fmt.Sprintf("%+v", r.Status)
		}
		return ""
	})
}

// begun waits until the agent has written down where the containers of the request are: it
// stops the first one then, which stays Pending meanwhile.
func (s *scene) begun(r *v1alpha1.ContainerRecreateRequest) {
	s.Helper()
	s.awaitRequest(r, "begun", func(r *v1alpha1.ContainerRecreateRequest) string {
		if states := r.Status.ContainerRecreateStates; len(states) == 0 {
			return fmt.Sprintf("%+v", r.Status)
		}
		return ""
	})
}

// restarted wants a number of restarts, the last after an exit code. It returns
// when the container ended and when it was back, in whole seconds.
func (s *scene) restarted(pod *corev1.Pod, container string, times, code int32) (ended, back time.Time) {
	s.Helper()
	status := podstate.ContainerStatus(pod, container)
	last := status.LastTerminationState.Terminated
	if status.RestartCount != times || last == nil || last.ExitCode != code || status.State.Running == nil {
		s.Fatalf("container %s: want %d restarts, the last after the exit code %d: %+v", container, times, code, status)
	}
	return last.FinishedAt.Time, status.State.Running.StartedAt.Time
}

// untouched wants no restart of a container.
func (s *scene) untouched(pod *corev1.Pod, container string) {
	s.Helper()
	if status := podstate.ContainerStatus(pod, container); status.RestartCount != 0 || status.State.Running == nil {
		s.Errorf("container %s was restarted: %+v", container, status)
	}
}

// took wants a time to pass between two moments, of which the status of a
// container gives whole seconds. How much more it takes is up to the machine.
func (s *scene) took(what string, from, to time.Time, atLeast time.Duration) {
	s.Helper()
	if took := to.Sub(from); took < atLeast-time.Second || took > atLeast+testbed.Patience {
		s.Errorf("%s took %s, want %s", what, took, atLeast)
	}
}

// before wants less than a time to pass between two moments: one that would pass
// if something was waited for that must not be.
func (s *scene) before(what string, from, to time.Time, limit time.Duration) {
	s.Helper()
	if took := to.Sub(from); took >= limit {
		s.Errorf("%s took %s, want less than %s", what, took, limit)
	}
}

// Containers are recreated in their order. Each one ends after its preStop hook, when the one
// before it has run for a while, and without a signal that kills.
func TestRecreateInOrder(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + endsAtOnce, "side=" + endsAtOnce, "other=" + endsAtOnce}, func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "3"}}}}
	})
	start := time.Now()
	r := s.recreate(pod, v1alpha1.ContainerRecreateRequestStrategy{OrderedRecreate: true, MinStartedSeconds: 4}, "main", "side")
	pod = s.completed(r, pod)
	mainEnded, mainBack := s.restarted(pod, "main", 1, 0)
	sideEnded, _ := s.restarted(pod, "side", 1, 0)
	s.took("the hook of main", start, mainEnded, 3*time.Second)
	s.took("the start of main", mainBack, sideEnded, 4*time.Second)
	s.untouched(pod, "other")
}

// Without an order, the next container does not wait for the one before it.
func TestRecreateWithoutOrder(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + endsAtOnce, "side=" + endsAtOnce})
	pod = s.completed(s.recreate(pod, v1alpha1.ContainerRecreateRequestStrategy{MinStartedSeconds: 20}, "main", "side"), pod)
	_, mainBack := s.restarted(pod, "main", 1, 0)
	sideEnded, _ := s.restarted(pod, "side", 1, 0)
	s.before("the stop of side after the start of main", mainBack, sideEnded, 20*time.Second)
}

// A hook over HTTP is sent to the pod, at the port that it names.
func TestRecreateHookOverHTTP(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	const serves = `mkdir -p /www/cgi-bin; printf '#!/bin/sh\necho\necho called >/shared/hook\n' >/www/cgi-bin/stop
		chmod +x /www/cgi-bin/stop; httpd -p 8080 -h /www; ` + endsAtOnce
	pod := s.pod("web", []string{"main=" + serves, "side=" + endsAtOnce}, func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].VolumeMounts = []corev1.VolumeMount{{Name: "shared", MountPath: "/shared"}}
		}
		main := &pod.Spec.Containers[0]
		main.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
		main.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/cgi-bin/stop", Port: intstr.FromString("http")}}}
	})
	pod = s.completed(s.recreate(pod, v1alpha1.ContainerRecreateRequestStrategy{}, "main"), pod)
	s.restarted(pod, "main", 1, 0)
	if got := strings.TrimSpace(s.exec(pod, "side", "cat", "/shared/hook")); got != "called" {
		t.Errorf("the hook has written %q", got)
	}
}

// What does not end within the grace period is killed, its hook included.
func TestRecreateGracePeriod(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + doesNotEnd, "side=" + endsAtOnce}, func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "2"}}}}
		pod.Spec.TerminationGracePeriodSeconds = new(int64(600))
	})
	start := time.Now()
	pod = s.completed(s.recreate(pod, v1alpha1.ContainerRecreateRequestStrategy{TerminationGracePeriodSeconds: new(int64(6))}, "main"), pod)
	ended, _ := s.restarted(pod, "main", 1, 137)
	s.took("the grace period", start, ended, 6*time.Second)
	s.before("the grace period of the request, not of the pod", start, ended, 600*time.Second)
	s.untouched(pod, "side")
}

// A pod with the gate is out of service for a while before, and back in service
// after its container is.
func TestRecreateUnreadyGracePeriod(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + endsAtOnce}, func(pod *corev1.Pod) {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: v1alpha1.KruisePodReady}}
	})
	inService := func(pod *corev1.Pod) string {
		if !podstate.InService(pod) {
			return podstate.Describe(pod, false)
		}
		return ""
	}
	s.AwaitPod("web", "in service", inService)
	r := s.recreate(pod, v1alpha1.ContainerRecreateRequestStrategy{UnreadyGracePeriodSeconds: new(int64(4))}, "main")
	out := s.AwaitPod("web", "out of service", func(pod *corev1.Pod) string {
		if podstate.Condition(pod, v1alpha1.KruisePodReady).Status != corev1.ConditionFalse || podstate.Condition(pod, corev1.PodReady).Status != corev1.ConditionFalse {
			return podstate.Describe(pod, false)
		}
		return ""
	})
	s.untouched(out, "main")
	pod = s.completed(r, pod)
	ended, _ := s.restarted(pod, "main", 1, 0)
	s.took("the time out of service before the stop", podstate.Condition(out, v1alpha1.KruisePodReady).LastTransitionTime.Time, ended, 4*time.Second)
	s.AwaitPod("web", "in service again", inService)
}

// Requests for one pod are carried out one after another, and each ends. A request need not
// recreate what the one before it has, unless the user forces that.
func TestRecreateRequestsQueue(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + doesNotEnd, "side=" + endsAtOnce})
	grace := v1alpha1.ContainerRecreateRequestStrategy{TerminationGracePeriodSeconds: new(int64(10))} // long enough for the others to be seen waiting
	first := s.recreate(pod, grace, "main")
	s.begun(first)
	same, side := s.recreate(pod, grace, "main"), s.recreate(pod, grace, "side")
	grace.ForceRecreate = true
	forced := s.recreate(pod, grace, "main")
	s.awaitRequest(forced, "waiting behind the others", func(r *v1alpha1.ContainerRecreateRequest) string {
		if r.Status.Phase != v1alpha1.ContainerRecreateRequestPending {
			return fmt.Sprintf("%+v", r.Status)
		}
		return ""
	})
	for _, r := range []*v1alpha1.ContainerRecreateRequest{first, same, side} {
		s.completed(r, pod)
	}
	pod = s.completed(forced, pod)
	s.restarted(pod, "main", 2, 137)
	s.restarted(pod, "side", 1, 0)
}

// A request ends at its deadline, though its container is still being stopped, and
// goes after its time to live. By then the grace period is over: the container, which
// does not heed its signal, has not been killed. The grace period is that long for a
// machine that stands still for some seconds. (CRR-5.5.6)
func TestRecreateDeadline(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + doesNotEnd})
	r := &v1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "deadline"},
		Spec: v1alpha1.ContainerRecreateRequestSpec{
			PodName: pod.Name, Containers: []v1alpha1.ContainerRecreateRequestContainer{{Name: "main"}},
			ActiveDeadlineSeconds: new(int64(3)), TTLSecondsAfterFinished: new(int32(30)), // long enough for the end to be seen
			Strategy: &v1alpha1.ContainerRecreateRequestStrategy{TerminationGracePeriodSeconds: new(int64(20))},
		},
	}
	requests := lifecycle.ContainerRecreateRequests(s.Namespace)
	created, err := requests.Create(t.Context(), r, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := s.ends(created)
	s.took("the deadline", created.CreationTimestamp.Time, done.Status.CompletionTime.Time, 3*time.Second)
	if done.Status.Message != "recreating has exceeded the activeDeadlineSeconds" {
		t.Errorf("message %q", done.Status.Message)
	}
	if states := done.Status.ContainerRecreateStates; len(states) != 1 || states[0].Phase != v1alpha1.ContainerRecreateRequestPending || states[0].IsKilled {
		t.Errorf("the states %+v, want main Pending: its stop has not returned", states)
	}
	s.AwaitAsking("the request is deleted", func() string {
		now, err := requests.Get(t.Context(), r.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("%+v, %v", now.Status, err)
	})
	now, err := bed.Core.CoreV1().Pods(s.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.untouched(now, "main")
	s.restarted(s.completed(s.recreate(now, v1alpha1.ContainerRecreateRequestStrategy{TerminationGracePeriodSeconds: new(int64(2))}, "main"), now), "main", 1, 137)
}

// A request ends with its pod.
func TestRecreatePodGoes(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + doesNotEnd})
	r := s.recreate(pod, v1alpha1.ContainerRecreateRequestStrategy{TerminationGracePeriodSeconds: new(int64(20))}, "main")
	s.begun(r)
	s.DeletePod("web")
	if r = s.ends(r); r.Status.Message != "pod has gone" {
		t.Errorf("message %q", r.Status.Message)
	}
}

// A container that has restarted by itself since the request was made is only
// stopped again if that is asked for by force.
func TestRecreateByForce(t *testing.T) {
	testbed.Long(t)
	s := newScene(t)
	for name, force := range map[string]bool{"calm": false, "forced": true} {
		pod := s.pod(name, []string{"main=" + endsAtOnce})
		var r *v1alpha1.ContainerRecreateRequest
		restartAgent(t, agentOf(pod), func() {
			r = s.recreate(pod, v1alpha1.ContainerRecreateRequestStrategy{ForceRecreate: force}, "main")
			s.crash(pod, "main")
			s.AwaitPod(name, "restarted by itself", func(pod *corev1.Pod) string {
				if podstate.ContainerStatus(pod, "main").RestartCount != 1 {
					return podstate.Describe(pod, false)
				}
				return containersReady(pod)
			})
		})
		pod = s.completed(r, pod)
		if force {
			s.restarted(pod, "main", 2, 0)
		} else {
			s.restarted(pod, "main", 1, 0)
		}
	}
}

// The agent, the runtime or the API server is killed in the middle of a stop. It
// is done once all the same, also if force is asked for, and nothing is lost.
func TestRecreateIsInterrupted(t *testing.T) {
	kills := map[string]func(*scene, *corev1.Pod){
		"agent":   func(_ *scene, pod *corev1.Pod) { restartAgent(t, agentOf(pod), func() {}) },
		"runtime": func(_ *scene, pod *corev1.Pod) { restart(t, node(pod), cluster.Containerd, func() {}) },
		"server": func(s *scene, _ *corev1.Pod) {
			if err := bed.Control.Kill(cluster.APIServer); err != nil {
				s.Fatal(err)
			}
			if err := bed.Control.Restart(s.Context(), cluster.APIServer); err != nil {
				s.Fatal(err)
			}
		},
	}
	for name, kill := range kills {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			pod := s.pod("web", []string{"main=" + doesNotEnd, "side=" + endsAtOnce})
			r := s.recreate(pod, v1alpha1.ContainerRecreateRequestStrategy{TerminationGracePeriodSeconds: new(int64(4)), ForceRecreate: true}, "main", "side")
			s.begun(r)
			kill(s, pod)
			pod = s.completed(r, pod)
			s.restarted(pod, "main", 1, 137)
			s.restarted(pod, "side", 1, 0)
		})
	}
}
