// SPDX-License-Identifier: Apache-2.0

package heldup

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// of is a pod that has not been ready since a time.
func of(name string, notReady time.Time) rollout.Wait {
	pod := &corev1.Pod{}
	pod.Name, pod.CreationTimestamp = name, metav1.NewTime(notReady.Add(-time.Hour))
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(notReady)}}
	return rollout.Wait{Subject: rollout.Subject{Kind: "pod", Name: name}, Pod: pod}
}

func whole(rule rollout.Rule, message string) rollout.Wait {
	return rollout.Wait{Subject: rollout.Subject{Name: string(rule)}, Reason: &rollout.Reason{Rule: rule, Message: message}}
}

// What has lasted for a minute is told: pods first, and what began first; and what waits for them.
func TestTell(t *testing.T) {
	crashing := of("web-7", start.Add(-3*time.Minute))
	crashing.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "app:2", State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: strings.Repeat("x", 600)}}}}
	hooked := of("web-8", start)
	hooked.Reason = &rollout.Reason{Rule: rollout.RuleInPlaceUpdateHook, Message: "label hold is there"}
	ready := of("web-9", start.Add(-5*time.Minute))
	ready.Pod.Status.Conditions[0].Status = corev1.ConditionTrue
	paused, full := whole(rollout.RulePaused, "paused is true"), whole(rollout.RuleMaxUnavailable, "maxUnavailable 1: 1 pod is unavailable")
	node := rollout.Wait{Subject: rollout.Subject{Kind: "node", Name: "n1"}, Pod: of("d-1", start.Add(-2*time.Minute)).Pod}
	long := Since{paused.Subject: start.Add(-time.Hour), full.Subject: start.Add(-time.Hour), hooked.Subject: start.Add(-time.Minute), ready.Subject: start.Add(-5 * time.Minute)}
	for _, test := range []struct {
		name     string
		holds    []rollout.Wait
		known    Since
		standing *Told
		want     string // the reason, the age and the message; empty for none
	}{
		{"nothing", nil, long, nil, ""},
		{"a pod for less than a minute", []rollout.Wait{of("web-1", start.Add(-59*time.Second))}, nil, nil, ""},
		{"a pod for a minute", []rollout.Wait{of("web-1", start.Add(-time.Minute))}, nil, nil, "NotReady 1m0s pod web-1: the pod is not ready"},
		{"a pod that comes and goes is remembered", []rollout.Wait{of("web-1", start)}, Since{of("web-1", start).Subject: start.Add(-2 * time.Minute)}, nil,
			"NotReady 2m0s pod web-1: the pod is not ready"},
		{"the first of several, the cause, and what follows", []rollout.Wait{of("web-1", start.Add(-2*time.Minute)), crashing, of("web-3", start), paused, full}, long, nil,
			"CrashLoop 3m0s pod web-7 (and web-1): container main of image app:2: CrashLoopBackOff: " + strings.Repeat("x", 512-49) + " …; maxUnavailable 1: 1 pod is unavailable"},
		{"no more than some are named", []rollout.Wait{crashing, of("a", start.Add(-time.Minute)), of("b", start.Add(-time.Minute)), of("c", start.Add(-time.Minute)), of("d", start.Add(-time.Minute))}, nil, nil,
			"CrashLoop 3m0s pod web-7 (and a, b, c, and 1 more): container main of image app:2: CrashLoopBackOff: " + strings.Repeat("x", 512-49) + " …"},
		{"what the workload waits for", []rollout.Wait{paused}, long, nil, "Paused 1h0m0s paused is true"},
		{"what waits behind others is told of itself if there are none", []rollout.Wait{full}, long, nil, "MaxUnavailable 1h0m0s maxUnavailable 1: 1 pod is unavailable"},
		{"but not if there are", []rollout.Wait{of("web-1", start), full}, long, nil, ""},
		{"a pod that waits for something of its own", []rollout.Wait{hooked}, long, nil, "InPlaceUpdateHook 1m0s pod web-8: label hold is there"},
		{"a pod that has become ready is held since now", []rollout.Wait{ready}, nil, nil, ""},
		{"a pod that settles", []rollout.Wait{ready}, long, nil, "MinReadySeconds 5m0s pod web-9: the pod is ready, and minReadySeconds are not over"},
		{"a node", []rollout.Wait{node}, nil, nil, "NotReady 2m0s node n1: pod d-1: the pod is not ready"},
		{"what a condition tells already goes on", []rollout.Wait{paused}, nil, &Told{Reason: "Paused", Since: start.Add(-3 * time.Hour)}, "Paused 3h0m0s paused is true"},
		{"of an object too", []rollout.Wait{of("web-1", start)}, nil, &Told{Reason: "CrashLoop", Message: "pod web-1 (and web-2): x", Since: start.Add(-time.Hour)},
			"NotReady 1h0m0s pod web-1: the pod is not ready"},
		{"another object begins anew", []rollout.Wait{of("web-11", start)}, nil, &Told{Reason: "NotReady", Message: "pod web-1: x", Since: start.Add(-time.Hour)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if told := Tell(test.holds, test.known, test.standing, start); told != nil {
				got = told.Reason + " " + start.Sub(told.Since).String() + " " + told.Message
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What only says the same in other words is no reason to write.
func TestSame(t *testing.T) {
	for _, test := range []struct {
		a, b Told
		want bool
	}{
		{Told{Reason: "CrashLoop", Message: "pod web-1 (and web-2): x"}, Told{Reason: "NotReady", Message: "pod web-1: y"}, true},
		{Told{Reason: "CrashLoop", Message: "pod web-1 (and web-2): x"}, Told{Reason: "Image", Message: "pod web-1: y"}, true},
		{Told{Reason: "NotReady", Message: "pod web-1: x"}, Told{Reason: "CrashLoop", Message: "pod web-1: y"}, false},
		{Told{Reason: "NotReady", Message: "pod web-1: x"}, Told{Reason: "PodMissing", Message: "pod web-1: y"}, true},
		{Told{Reason: "NotReady", Message: "pod web-1: x"}, Told{Reason: "NotReady", Message: "pod web-2: x"}, false},
		{Told{Reason: "MaxUnavailable", Message: "maxUnavailable 2: 2"}, Told{Reason: "MaxUnavailable", Message: "maxUnavailable 3: 3"}, true},
		{Told{Reason: "Paused", Message: "x"}, Told{Reason: "Revision", Message: "x"}, false},
		{Told{Reason: "NotReady", Message: "x"}, Told{Reason: "Revision", Message: "x"}, false},
	} {
		if same(&test.a, &test.b) != test.want {
			t.Errorf("%+v and %+v: want %t", test.a, test.b, test.want)
		}
	}
}

func TestTracker(t *testing.T) {
	var tracker Tracker
	key := types.NamespacedName{Name: "web"}
	paused, full := whole(rollout.RulePaused, ""), whole(rollout.RuleMaxUnavailable, "")
	pod := of("web-1", start.Add(-20*time.Second))
	again := func(at time.Duration, holds ...rollout.Wait) time.Duration {
		return tracker.Note(key, holds, start.Add(at))
	}
	if got := again(0, paused, pod, full); got != 40*time.Second {
		t.Errorf("again in %s, want 40s, when the pod has not been ready for a minute", got)
	}
	if got := again(50*time.Second, paused, pod, full); got != 10*time.Second {
		t.Errorf("again in %s, want 10s", got)
	}
	if diff := cmp.Diff(Since{paused.Subject: start, pod.Subject: start.Add(-20 * time.Second)}, tracker.Since(key)); diff != "" {
		t.Errorf("what follows from others is not remembered (-want +got):\n%s", diff)
	}
	if got := again(2*time.Minute, paused); got != 0 {
		t.Errorf("again in %s, though all is told", got)
	}
	if got := again(3*time.Minute, full); got != After {
		t.Errorf("again in %s, want a minute for what begins to hold", got)
	}
	if again(4 * time.Minute); tracker.Since(key) != nil {
		t.Error("it remembers what is over")
	}

	// Of many, those stay that do not move.
	var holds []rollout.Wait
	for _, c := range "abcdefghij" {
		for _, d := range "abcdefghijkl" {
			holds = append(holds, of(string(c)+string(d), start))
		}
	}
	stuck := holds[50]
	again(0, stuck)
	if again(time.Second, holds...); len(tracker.Since(key)) != mostTracked || !tracker.Since(key)[stuck.Subject].Equal(start) {
		t.Errorf("it remembers %d", len(tracker.Since(key)))
	}
	if tracker.Forget(key); tracker.Since(key) != nil {
		t.Error("it remembers what is gone")
	}
}
