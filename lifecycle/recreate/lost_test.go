// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// alone has the kubelet work for a time, and no agent.
func (s *story) alone(d time.Duration) {
	s.T.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		s.node.kubelet()
		s.Sleep("10s")
	}
}

// CRR-M9: an agent that is gone does not keep the pod out of service for ever.
func TestLostAgent(t *testing.T) {
	const ended = "Completed: daemon has not responded for a long time"
	for name, happens := range map[string]func(*story){
		"before it stops a container": func(s *story) {
			s.work(2 * time.Second)
			s.alone(10 * time.Minute)
			s.must("restart", "Recreating, active, held")
			s.inService("web-0", false)
			s.alone(2 * time.Minute) // unready 5 s and grace 40 s
			s.must("restart", ended)
		},
		"after the container is back": func(s *story) {
			s.node.startup = 30 * time.Second
			s.work(15 * time.Second)
			s.must("restart", "Recreating, main Recreating, active, held")
			s.alone(12 * time.Minute)
			s.must("restart", "Completed, main Failed: daemon has not responded for a long time")
		},
		"and the manager is started again": func(s *story) {
			s.work(2 * time.Second)
			s.alone(10 * time.Minute)
			s.stop()
			s.stop = s.manager()
			s.alone(12 * time.Minute)
			s.must("restart", ended)
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *story) {
				s.pod("web-0")
				s.stop = s.manager()
				defer func() { s.stop() }()
				s.create("restart", "web-0", unready(5))
				happens(s)
				s.inService("web-0", true)
				s.ended("restart", "web-0")
			})
		})
	}
}

// CRR-M9: an agent that waits for a slow container is not gone.
func TestSlowContainer(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		s.node.startup = time.Hour
		defer s.manager()()
		s.create("restart", "web-0", unready(5))
		s.work(55 * time.Minute)
		s.must("restart", "Recreating, main Recreating, active, held")
		s.work(6 * time.Minute)
		s.must("restart", "Completed, main Succeeded")
		s.inService("web-0", true)
	})
}

// CRR-M9: how long is waited for the agent.
func TestPlanLostAgent(t *testing.T) {
	grace := func(seconds int64) func(*v1alpha1.ContainerRecreateRequest) {
		return func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.Strategy.TerminationGracePeriodSeconds = &seconds }
	}
	minStarted := func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.Strategy.MinStartedSeconds = 30 }
	taken := annotated(acquired, "2024-05-01T12:00:00Z")
	for _, test := range []struct {
		name    string
		request requestEdits
		silent  time.Duration
		want    []string
	}{
		{"10 minutes, the unready and the grace period", requestEdits{unready(5)}, 644 * time.Second, []string{"again after 1s"}},
		{"they are over", requestEdits{unready(5)}, 645 * time.Second, []string{noResponse}},
		{"minStartedSeconds", requestEdits{unready(5), minStarted}, 674 * time.Second, []string{"again after 1s"}},
		{"24 hours of grace at most", requestEdits{unready(0), grace(math.MaxInt64)}, 24*time.Hour + 10*time.Minute, []string{noResponse}},
		{"an unready period beyond all time", requestEdits{unready(math.MaxInt64)}, 1000 * time.Hour, []string{"again after 2561047h47m16s"}},
		{"the deadline comes first", requestEdits{unready(5), deadline(3)}, time.Hour, []string{late}},
	} {
		s := &recreate.Snapshot{Request: request(append(test.request, held(), taken)...), Pod: runningPod(keys(own)), Silent: now.Add(-test.silent), Now: now}
		if diff := cmp.Diff(test.want, show(s.Pod, recreate.NewPlan(s))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// CRR-M9: the time counts while it is the turn of the agent.
func TestTurnOfTheAgent(t *testing.T) {
	out := func(r *v1alpha1.ContainerRecreateRequest) { held()(r); annotated(acquired, "then")(r) }
	starting := func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].Ready = false }
	ended := func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	}
	done := func(r *v1alpha1.ContainerRecreateRequest) {
		r.Status.ContainerRecreateStates = []v1alpha1.ContainerRecreateRequestContainerRecreateState{{Name: "main", Phase: v1alpha1.ContainerRecreateRequestSucceeded}}
	}
	for _, test := range []struct {
		name    string
		request requestEdits
		pod     *corev1.Pod
		want    bool
	}{
		{"the container is to be stopped", requestEdits{out}, runningPod(), true},
		{"also one that is not ready", requestEdits{out}, runningPod(starting), true},
		{"the container is back", requestEdits{out}, restarted(), true},
		{"it is not ready yet", requestEdits{out}, restarted(starting), false},
		{"it has ended", requestEdits{out}, runningPod(ended), false},
		{"it has ended, once it was back", requestEdits{out, done}, runningPod(ended), true},
		{"it has no status", requestEdits{out, containers("new")}, runningPod(), false},
		{"the controller has not said yet that the pod is out of service", requestEdits{held()}, runningPod(keys(own)), false},
		{"the pod is not out of service", requestEdits{annotated(acquired, "then")}, runningPod(), false},
		{"Pending", requestEdits{out, phase(pending)}, runningPod(), false},
		{"completed", requestEdits{out, completed(0)}, runningPod(), false},
		{"another pod", requestEdits{out}, runningPod(another), false},
		{"no pod", requestEdits{out}, nil, false},
	} {
		s := &recreate.Snapshot{Request: request(test.request...), Pod: test.pod}
		if got := s.Turn() != ""; got != test.want {
			t.Errorf("%s: the turn of the agent: %v, want %v", test.name, got, test.want)
		}
	}
}
