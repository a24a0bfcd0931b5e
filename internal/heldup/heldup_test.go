// SPDX-License-Identifier: Apache-2.0

package heldup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/testing/patches"
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

// row is a line of testdata/rows. Times are how long something has lasted.
type row struct {
	// Holds are those of pods that are not ready, or what else they are. They may have a node, and a reason. Those of the workload have a rule.
	Holds []struct {
		Pod, Is, On, Rule, Message string
		For                        metav1.Duration
	}
	Known          map[string]metav1.Duration // by the name of what is held
	Standing, Next *told                      // what a condition says, and is to say
	Other          string                     // the type of another condition that comes
}

type told struct {
	Reason, Message string
	For             metav1.Duration
}

func (t *told) told() *heldup.Told {
	if t == nil {
		return nil
	}
	return &heldup.Told{Reason: t.Reason, Message: t.Message, Since: start.Add(-t.For.Duration)}
}

// TestRows plays the tables of what holds objects up, see patches.PlayRows. They show:
//
//	tell      the reason, for how long, and the message. What has lasted for a minute is told: pods first, what began first, and what waits for them
//	compare   whether a text stays, and whether conditions are written. What only says the same in other words is no reason to write
func TestRows(t *testing.T) {
	patches.PlayRows(t, "testdata/rows", func() row { return row{} }, func(_ *testing.T, command string, r *row) string {
		if command == "compare" {
			return r.compare()
		}
		known := heldup.Since{}
		if told := heldup.Tell(r.holds(known), known, r.Standing.told(), start); told != nil {
			return strings.ReplaceAll(fmt.Sprint(told.Reason, " ", start.Sub(told.Since), " ", told.Message), strings.Repeat("x", 512-49)+" …", "cut")
		}
		return ""
	})
}

// holds returns what is held up, and notes since when it is known.
func (r *row) holds(known heldup.Since) (all []rollout.Wait) {
	for _, h := range r.Holds {
		w := of(h.Pod, start.Add(-h.For.Duration))
		switch h.Is {
		case "crashing":
			w.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "app:2", State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: strings.Repeat("x", 600)}}}}
		case "ready":
			w.Pod.Status.Conditions[0].Status = corev1.ConditionTrue
		}
		if h.Pod == "" {
			w = whole(rollout.Rule(h.Rule), h.Message)
		} else if h.Rule != "" {
			w.Reason = &rollout.Reason{Rule: rollout.Rule(h.Rule), Message: h.Message}
		}
		if h.On != "" {
			w.Subject = rollout.Subject{Kind: "node", Name: h.On}
		}
		if age, is := r.Known[w.Name]; is {
			known[w.Subject] = start.Add(-age.Duration)
		}
		all = append(all, w)
	}
	return all
}

func (r *row) compare() string {
	standing, next := r.Standing.told(), r.Next.told()
	list := func(t *heldup.Told) (list []metav1.Condition) {
		if t != nil {
			list = append(list, heldup.Kubernetes.Make(*t))
		}
		return list
	}
	wanted := list(next)
	if r.Other != "" {
		wanted = append(wanted, metav1.Condition{Type: r.Other})
	}
	shown := "no text"
	if standing != nil && next != nil {
		shown = fmt.Sprintf("the text stays %t", heldup.Retell(heldup.Text(standing), next) == heldup.Text(standing))
	}
	before, after := heldup.Kubernetes.ToCompare(list(standing), wanted)
	return fmt.Sprintf("%s, the conditions are equal %t", shown, slices.Equal(before, after))
}

// The condition replaces the one that stands and keeps its time, and it goes when nothing holds. Other conditions and the given list stay.
func TestConditions(t *testing.T) {
	other := metav1.Condition{Type: "Other", Status: metav1.ConditionTrue}
	told := heldup.Told{Reason: "Paused", Message: "paused is true", Since: start.Add(-time.Hour)}
	standing := []metav1.Condition{heldup.Kubernetes.Make(told), other}
	before := slices.Clone(standing)
	paused := []rollout.Wait{whole(rollout.RulePaused, "paused is still true")}

	got := heldup.Kubernetes.Tell(standing, paused, nil, start)
	want := []metav1.Condition{other, heldup.Kubernetes.Make(heldup.Told{Reason: "Paused", Message: "paused is still true", Since: told.Since})}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("while it lasts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]metav1.Condition{other}, heldup.Kubernetes.Tell(standing, nil, nil, start)); diff != "" {
		t.Errorf("once it is over (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]metav1.Condition{other}, heldup.Kubernetes.Tell([]metav1.Condition{other}, paused, nil, start)); diff != "" {
		t.Errorf("before a minute is over (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, standing); diff != "" {
		t.Errorf("the list that was given has changed (-want +got):\n%s", diff)
	}
	if told := heldup.Kubernetes.Told([]metav1.Condition{other}); told != nil {
		t.Errorf("told by another condition: %+v", told)
	}
}

func TestTracker(t *testing.T) {
	var tracker heldup.Tracker
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
	if diff := cmp.Diff(heldup.Since{paused.Subject: start, pod.Subject: start.Add(-20 * time.Second)}, tracker.Since(key)); diff != "" {
		t.Errorf("what follows from others is not remembered (-want +got):\n%s", diff)
	}
	if got := again(2*time.Minute, paused); got != 0 {
		t.Errorf("again in %s, though all is told", got)
	}
	if got := again(3*time.Minute, full); got != heldup.After {
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
	if again(time.Second, holds...); len(tracker.Since(key)) != 100 || !tracker.Since(key)[stuck.Subject].Equal(start) {
		t.Errorf("it remembers %d", len(tracker.Since(key)))
	}
	if tracker.Forget(key); tracker.Since(key) != nil {
		t.Error("it remembers what is gone")
	}
}
