// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// given gives a pod the phase Succeeded, so long ago.
func given(ago time.Duration) edit {
	return func(pod *corev1.Pod) { give(pod, corev1.PodSucceeded, at.Add(-ago)) }
}

func containersReady(status corev1.ConditionStatus, reason string) edit {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.ContainersReady, Status: status, Reason: reason})
	}
}

// TestKubeletKnows is about the request that follows the phase: ST-15.1 and ST-15.2.
func TestKubeletKnows(t *testing.T) {
	const runs, waits = "Never main:0 a=r:running", "nothing"
	again := inPhase(corev1.PodRunning)
	for _, test := range []struct {
		name, pod string
		edits     []edit
		seen      time.Duration // since this controller first saw that the phase was given; 0: it has not before
		want      string
		again     time.Duration
	}{
		{"ST-15: the phase comes first", runs, nil, 0, wouldFail + "a", 0},
		{"ST-15.1: the kubelet does not know the phase", runs, []edit{given(0)}, 0, waits, 30 * time.Second},
		{"ST-15.1: it has told only that main is not ready", runs, []edit{given(0), containersReady(corev1.ConditionFalse, "ContainersNotReady")}, 0, waits, 30 * time.Second},
		{"ST-15.1: a sign that is none", runs, []edit{given(0), containersReady(corev1.ConditionTrue, "PodCompleted")}, 0, waits, 30 * time.Second},
		{"ST-15.1: it knows", runs, []edit{given(0), learn}, 0, "stop [a]", 0},
		{"ST-15.1: all that are stopped by a request wait", "Never main:0 b=r:running a=r:running", []edit{given(0), alone(1, onFailure)}, 0, waits, 30 * time.Second},
		{"ST-15.1: and are stopped", "Never main:0 b=r:running a=r:running", []edit{given(0), alone(1, onFailure), learn}, 0, "stop [a b]", 0},

		{"ST-15.2: not yet", runs, []edit{given(29 * time.Second)}, 29 * time.Second, waits, time.Second},
		{"ST-15.2: it has had its time", runs, []edit{given(30 * time.Second)}, 30 * time.Second, "stop [a]", 0},
		{"ST-15.2: most of it before this controller was started", runs, []edit{given(29 * time.Second)}, 0, waits, time.Second},
		{"ST-15.2: all of it", runs, []edit{given(time.Hour)}, 0, "stop [a]", 0},
		{"ST-15.2: the other clock is ahead", runs, []edit{given(-time.Hour)}, 0, waits, 30 * time.Second},
		{"ST-15.2: and the time passes", runs, []edit{given(-time.Hour)}, 10 * time.Second, waits, 20 * time.Second},
		{"ST-15.2: and is over", runs, []edit{given(-time.Hour)}, 30 * time.Second, "stop [a]", 0},
		{"ST-15.2: without a time", runs, []edit{func(pod *corev1.Pod) { give(pod, corev1.PodSucceeded, time.Time{}) }}, time.Second, "stop [a]", 0},

		{"ST-15: the kubelet has written Running over it", runs, []edit{given(10 * time.Second), again}, 10 * time.Second, wouldFail + "a", 0},
		{"ST-15.1: and knows by now", runs, []edit{given(10 * time.Second), again, learn}, 10 * time.Second, "stop [a]; " + wouldFail + "a", 0},
		{"ST-15.2: and has had its time", runs, []edit{given(30 * time.Second), again}, 30 * time.Second, "stop [a]; " + wouldFail + "a", 0},

		{"ST-9: the sidecar has ended", "Never main:0 a=r:143", []edit{given(0), learn}, 0, waits, 0},
		{"ST-9: one of two has", "Never main:0 a=r:143 b=r:running", []edit{given(0), learn}, 0, "stop [b]", 0},
		{"ST-11: of two the one whose failure counts has", "Never main:0 a=r:143 b=r:running", []edit{given(0), learn, alone(2, onFailure)}, 0, "stop [b]", 0},
		{"ST-9: the one that runs goes by its image", "Never main:0 a=r:143 b=I:running", []edit{given(0), learn}, 0, waits, 0},
		{"ST-13: the failure of the sidecar does not count", "OnFailure main:0 a=r:running", []edit{given(0), learn}, 0, waits, 0},
		{"ST-13: it goes by its image", "Never main:0 a=I:running", []edit{given(0), learn}, 0, waits, 0},
		{"ST-13: the main container has failed", "Never main:1 a=r:running", []edit{given(0), inPhase(corev1.PodFailed)}, 0, waits, 0},
		{"ST-E2: the phase is the kubelet's own", runs, []edit{inPhase(corev1.PodSucceeded), learn}, 0, waits, 0},
		{"ST-2: the pod is terminating", runs, []edit{given(0), learn, func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: at} }}, 0, waits, 0},
		{"ST-3: a status is missing", runs, []edit{given(0), learn, func(pod *corev1.Pod) { pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[:1] }}, 0, waits, 0},
		{"ST-6: the node is not known", runs, []edit{given(0), learn, onNode("gone")}, 0, waits, time.Minute},
		{"ST-7: the node has no agent", runs, []edit{given(0), learn, onNode("virtual")}, 0, waits, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := podOf(t, test.pod)
			for _, edit := range test.edits {
				edit(pod)
			}
			s := &Snapshot{Pod: pod, Node: nodes[pod.Spec.NodeName], Now: at}
			if test.seen > 0 {
				s.PhaseSeen = at.Add(-test.seen)
			}
			plan := NewPlan(s)
			if got := describe(plan); got != test.want || plan.RequeueAfter != test.again {
				t.Errorf("got  %s, again after %s\nwant %s, again after %s", got, plan.RequeueAfter, test.want, test.again)
			}
			if len(plan.Waiting) == 0 && plan.RequeueAfter > 0 {
				t.Error("it waits, and does not say for what")
			}
			requested, left := *s, *s
			requested.Request, left.LeavePhase = requestOf(pod, time.Second, "a"), true
			if plan := NewPlan(&requested); plan.Create != nil {
				t.Errorf("ST-11: %s, and there is a request", plan)
			}
			if plan := NewPlan(&left); plan.Phase != "" || plan.Create != nil && pod.Status.Phase != corev1.PodRunning {
				t.Errorf("ST-19: %s", plan)
			}
		})
	}
}

// The plan says what the request waits for. (ST-15.2)
func TestWaitingForKubelet(t *testing.T) {
	pod := podOf(t, "Never main:0 a=r:running")
	given(10 * time.Second)(pod)
	var got []string
	for _, w := range NewPlan(&Snapshot{Pod: pod, Node: nodes["real"], Now: at}).Waiting {
		got = append(got, w.Name+": "+w.Reason.String())
	}
	want := "a: it is stopped once the kubelet shows that it knows the phase of the pod, in 20s at the latest"
	if diff := cmp.Diff(want, strings.Join(got, "; ")); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}
