// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// EJ-21: conditions.
func TestConditions(t *testing.T) {
	s := place(t, jobOf(t, "status: {startTime: null, conditions: [], observedGeneration: 0}"), "")
	step := func(name, pods string, want ...string) {
		t.Helper()
		s.Pods = place(t, s.Job, pods).Pods
		s.Now = s.Now.Add(time.Minute)
		if plan := NewPlan(s); plan.Status != nil {
			s.Job.Status = *plan.Status
		}
		if diff := cmp.Diff(want, conditions(&s.Job.Status)); diff != "" {
			t.Errorf("%s: conditions (-want +got):\n%s", name, diff)
		}
	}
	const initialized = "Initialized=True Initialized: The controller has seen the job"
	const taken = "NamesTaken=True Taken: Left out are pods with ephemeral containers of others, which can never be removed: p1: it has another ephemeral container debug" +
		". If a name is taken, use another one, or the annotation ephemeraljobs.podwright.io/unique-names"
	step("no pods", "", initialized, "MatchedEmpty=True MatchEmpty: The job is for no pod")
	step("EJ-5: one that is left out", "p1:taken", initialized, "MatchedEmpty=True MatchEmpty: The job is for no pod", taken)
	step("a pod", "p1:taken p2", initialized, "MatchedEmpty=False Matched", taken)
	step("it runs", "p2:running", initialized, "MatchedEmpty=False Matched", "NamesTaken=False Free")
	step("one has failed", "p2:running p3:exit1", initialized, "MatchedEmpty=False Matched", "NamesTaken=False Free", "JobFailed=True CreateFailed: Containers have failed in 1 of 2 pods")
	step("two have", "p1:exit2 p2:running p3:exit1", initialized, "MatchedEmpty=False Matched", "NamesTaken=False Free", "JobFailed=True CreateFailed: Containers have failed in 2 of 3 pods")
	before := s.Job.Status.DeepCopy()
	step("nothing new", "p1:exit2 p2:running p3:exit1", conditions(before)...)
	if diff := cmp.Diff(before, &s.Job.Status); diff != "" {
		t.Errorf("EJ-21: times of what has not changed (-before +after):\n%s", diff)
	}
	s.Job.Spec.ActiveDeadlineSeconds = new(int64(60))
	step("EJ-18: the deadline", "p1:exit2 p2:running p3:exit1", initialized, "MatchedEmpty=False Matched", "NamesTaken=False Free", "JobFailed=True DeadlineExceeded: The job was active for more than 60 seconds")
}

func TestSucceeded(t *testing.T) {
	plan := NewPlan(place(t, newJob(), "p1:exit0"))
	want := v1alpha1.EphemeralJobCondition{Type: v1alpha1.EphemeralJobConditionSucceeded, Status: corev1.ConditionTrue, Reason: "JobSucceeded",
		Message: "All containers have succeeded in 1 pods", LastProbeTime: metav1.NewTime(noon), LastTransitionTime: metav1.NewTime(noon)}
	if diff := cmp.Diff(want, plan.Status.Conditions[1]); diff != "" {
		t.Errorf("EJ-21: condition (-want +got):\n%s", diff)
	}
}

// EJ-5: a pod that has as many ephemeral containers as a pod may have is left out. One into which the job has injected is not.
func TestFullPods(t *testing.T) {
	for _, test := range []struct {
		pods string
		more int // ephemeral containers of others, in p1
		want string
	}{
		{"p1 p2", 99, ""},
		{"p1 p2", 100, "p1: it has 100 ephemeral containers, and may have 100"},
		{"p1:running p2", 100, ""},
	} {
		s := place(t, jobOf(t, "spec: {parallelism: 2}"), test.pods)
		for i := range test.more {
			s.Pods[0].Spec.EphemeralContainers = append(s.Pods[0].Spec.EphemeralContainers,
				corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: fmt.Sprint("other-", i)}})
		}
		var got []string
		for _, w := range NewPlan(s).Skipped {
			got = append(got, w.String())
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s, %d others: left out %v, want %s", test.pods, test.more, got, test.want)
		}
	}
}

// EJ-14: what was refused is tried again after everything else, when its time has come.
func TestRefusedPods(t *testing.T) {
	s := place(t, jobOf(t, "spec: {parallelism: 2}"), "p1 p2 p3 p4")
	s.Refusals = Refusals{Tried: true, Pods: map[types.UID]Refusal{
		"p1": {Message: "no", Until: noon, Times: 1}, "p2": {Message: "not now", Until: noon.Add(4 * time.Second), Times: 3}}}
	plan := NewPlan(s)
	if want := "try +p3 +p4 Unknown match=4 running=0 succeeded=0 waiting=0 failed=0 again in 4s"; show(plan) != want {
		t.Errorf("plan %s, want %s", show(plan), want)
	}
	if got := fmt.Sprint(plan.Waiting); got != "[p2: not now p1: parallelism 2: containers are under way in 2 pods]" {
		t.Errorf("waiting %s", got)
	}
	if got := conditions(plan.Status); got[len(got)-1] != "InjectionRefused=True Refused: p1: no; p2: not now" {
		t.Errorf("conditions %v", got)
	}
	s.Job.Status = *plan.Status
	s.Job.Spec.Parallelism = new(int32(3))
	if plan = NewPlan(s); show(plan) != "try +p3 +p4 +p1 again in 4s" {
		t.Errorf("plan %s", show(plan))
	}
	s.Refusals.Until = noon.Add(time.Second)
	if plan = NewPlan(s); show(plan) != "again in 1s" || len(plan.Waiting) != 4 {
		t.Errorf("plan %s, waiting %v", show(plan), plan.Waiting)
	}
	s.Refusals = Refusals{} // after a restart nothing is known of it
	if plan = NewPlan(s); plan.Status != nil {
		t.Errorf("conditions %v", conditions(plan.Status))
	}
	s.Refusals.Tried = true
	if plan = NewPlan(s); conditions(plan.Status)[1] != "InjectionRefused=False Accepted" {
		t.Errorf("conditions %v", conditions(plan.Status))
	}
}

func TestRefusals(t *testing.T) {
	var r Refusals
	waits := func() (total time.Duration) { return r.Until.Sub(noon) }
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		if got := r.patience(); got != 2<<i {
			t.Errorf("EJ-14: after %d times, %d refusals in a row end a reconcile", i, got)
		}
		r = r.after(map[types.UID]string{"a": "no"}, nil, noon)
		if waits() != want || r.Pods["a"].Until != r.Until || !r.Tried {
			t.Errorf("EJ-14: the refusal %d is followed by %s", i+1, waits())
		}
	}
	for range 100 {
		r = r.after(map[types.UID]string{"a": "no"}, nil, noon)
	}
	if waits() != 5*time.Minute {
		t.Errorf("EJ-14: at last it waits %s", waits())
	}
	r = r.after(map[types.UID]string{"b": "no"}, []types.UID{"a"}, noon)
	if !r.Until.IsZero() || r.InARow != 0 || len(r.Pods) != 1 || r.Pods["b"].Times != 1 {
		t.Errorf("EJ-14: once a pod is served: %+v", r)
	}
}

// EJ-22: mere progress waits; what users wait for does not.
func TestStatusWrites(t *testing.T) {
	job := jobOf(t, "spec: {parallelism: 100}")
	s := place(t, job, "p1:running p2:running")
	s.Job.Status = *NewPlan(s).Status
	s.Reported = noon.Add(-400 * time.Millisecond)
	for _, test := range []struct{ name, pods, want string }{
		{"progress", "p1:running p2:exit0", "again in 600ms"},
		{"another phase", "p1:waiting p2:waiting", "Waiting match=2 running=0 succeeded=0 waiting=2 failed=0"},
		{"a condition", "p1:running p2:exit1", "Running match=2 running=1 succeeded=0 waiting=0 failed=1"},
		{"the end", "p1:exit0 p2:exit0", `Succeeded match=2 running=0 succeeded=2 waiting=0 failed=0 finished "JobSucceeded" again in 30m0s`},
		{"nothing", "p1:running p2:running", ""},
	} {
		s.Pods = place(t, job, test.pods).Pods
		if got := show(NewPlan(s)); got != test.want {
			t.Errorf("%s: plan %s, want %s", test.name, got, test.want)
		}
	}
	s.Pods = place(t, job, "p1:running p2:exit0").Pods
	s.Now = noon.Add(600 * time.Millisecond)
	if got := show(NewPlan(s)); got != "Running match=2 running=1 succeeded=1 waiting=0 failed=0" {
		t.Errorf("progress after a second: plan %s", got)
	}
}
