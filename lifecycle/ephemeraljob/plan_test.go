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

func TestPlan(t *testing.T) {
	const (
		two      = "spec: {parallelism: 2}"
		many     = "spec: {parallelism: 100}"
		both     = "spec: {parallelism: 100, template: {ephemeralContainers: [{name: debug}, {name: trace}]}}"
		paused   = "spec: {parallelism: 2, paused: true}"
		deadline = "spec: {parallelism: 2, activeDeadlineSeconds: "
		fresh    = "metadata: {finalizers: []}\nstatus: {startTime: null, conditions: [], observedGeneration: 0}"
	)
	for _, test := range []struct{ name, job, pods, want string }{
		{"EJ-2, EJ-3: a new job", fresh, "p1", "add the finalizer try +p1 Unknown match=1 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-2: finalizers of others", "metadata: {finalizers: [a/b]}", "", "add the finalizer Waiting match=0 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-4, EJ-9: a pod without a node is a target, and gets its containers later", many, "p1:pending p2", "try +p2 Unknown match=2 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-4: pods that have ended, are being deleted or have other labels", many, "p1:ended p2:broken p3:leaving p4:other p5", "try +p5 Unknown match=1 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-4: no pods", many, "", "Waiting match=0 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-4: the empty selector", "spec: {selector: {matchLabels: null}}", "p1:other", "try +p1 Unknown match=1 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-5: a container of somebody else", many, "p1:taken p2", "try +p2 Unknown match=1 running=0 succeeded=0 waiting=0 failed=0 skipped=1"},
		{"EJ-5: nothing but such", many, "p1:taken", "Waiting match=0 running=0 succeeded=0 waiting=0 failed=0 skipped=1"},
		{"EJ-6: replicas", "spec: {parallelism: 100, replicas: 2}", "p1 p2 p3", "try +p1 +p2 Unknown match=2 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-6: no replicas", "spec: {parallelism: 100, replicas: 0}", "p1", "Waiting match=0 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-6: less than that", "spec: {parallelism: 100, replicas: -1}", "p1", "Waiting match=0 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-6: an injected pod stays where an older one comes", "spec: {parallelism: 100, replicas: 1}", "p1 p2:running", "Running match=1 running=1 succeeded=0 waiting=0 failed=0"},
		{"EJ-6: a pod that has ended leaves, and the next one moves in", "spec: {parallelism: 100, replicas: 1}", "p1:exit0,ended p2", "try +p2 Unknown match=1 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-9: one by default", "", "p1 p2", "try +p1 Unknown match=2 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-9: none", "spec: {parallelism: 0}", "p1", "Unknown match=1 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-9: less than none", "spec: {parallelism: -3}", "p1", "Unknown match=1 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-9: the oldest first", two, "p1 p2 p3", "try +p1 +p2 Unknown match=3 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-9: all that are under way count", two, "p1:waiting p2:injected p3", "Unknown match=3 running=0 succeeded=0 waiting=1 failed=0"},
		{"EJ-9: those beyond replicas too", "spec: {parallelism: 2, replicas: 3}", "p1:running p2:exit0 p3 p4:running", "Running match=3 running=2 succeeded=1 waiting=0 failed=0"},
		{"EJ-9: trace A: the last pods are not slower", "spec: {parallelism: 3}", "p1:exit0 p2:running p3:running p4 p5", "+p4 Running match=5 running=2 succeeded=1 waiting=0 failed=0"},
		{"EJ-9: trace A: a new pod does not wait for all others", "spec: {parallelism: 10}", "p1:running p2:running p3", "+p3 Running match=3 running=2 succeeded=0 waiting=0 failed=0"},
		{"EJ-9: trace B: images that cannot be pulled", "", "p1:waiting p2 p3", "Unknown match=3 running=0 succeeded=0 waiting=1 failed=0"},
		{"EJ-13: only before the first", two, "p1:exit0 p2", "+p2 Unknown match=2 running=0 succeeded=1 waiting=0 failed=0"},
		{"EJ-15: one of two has failed", both, "p1:running,exit1 p2:injected", "Unknown match=2 running=0 succeeded=0 waiting=0 failed=1"},
		{"EJ-15: one of two has succeeded", both, "p1:exit0,injected", "Unknown match=1 running=0 succeeded=0 waiting=0 failed=0"},
		{"EJ-15: one of two runs", both, "p1:waiting,running", "Running match=1 running=1 succeeded=0 waiting=0 failed=0"},
		{"EJ-15: one of two waits", both, "p1:waiting,exit0", "Waiting match=1 running=0 succeeded=0 waiting=1 failed=0"},
		{"EJ-7, EJ-15: a container that came to the template later is not waited for", both, "p1:exit0", `Succeeded match=1 running=0 succeeded=1 waiting=0 failed=0 finished "JobSucceeded" again in 30m0s`},
		{"EJ-15: one that cannot be started", both, "p1:unstartable,exit0", `Failed match=1 running=0 succeeded=0 waiting=0 failed=1 finished "JobFailed" again in 30m0s`},
		{"EJ-16: all have succeeded", many, "p1:exit0 p2:exit0", `Succeeded match=2 running=0 succeeded=2 waiting=0 failed=0 finished "JobSucceeded" again in 30m0s`},
		{"EJ-16: trace C: one has failed", many, "p1:exit0 p2:exit1 p3:exit0", `Failed match=3 running=0 succeeded=2 waiting=0 failed=1 finished "JobFailed" again in 30m0s`},
		{"EJ-16: trace C: fewer pods than replicas", "spec: {parallelism: 100, replicas: 10}", "p1:exit0", `Succeeded match=1 running=0 succeeded=1 waiting=0 failed=0 finished "JobSucceeded" again in 30m0s`},
		{"EJ-16: one runs", many, "p1:exit0 p2:running p3:waiting", "Running match=3 running=1 succeeded=1 waiting=1 failed=0"},
		{"EJ-16: all wait", many, "p1:waiting p2:waiting", "Waiting match=2 running=0 succeeded=0 waiting=2 failed=0"},
		{"EJ-16: some wait", many, "p1:exit1 p2:waiting", "Unknown match=2 running=0 succeeded=0 waiting=1 failed=1"},
		{"EJ-17: paused", paused, "p1:running p2", "Paused match=2 running=1 succeeded=0 waiting=0 failed=0"},
		{"EJ-17: paused beyond the deadline", "spec: {paused: true, activeDeadlineSeconds: 5}", "p1:running p2", "Paused match=2 running=1 succeeded=0 waiting=0 failed=0"},
		{"EJ-17: it ends while it is paused", paused, "p1:exit0", `Succeeded match=1 running=0 succeeded=1 waiting=0 failed=0 finished "JobSucceeded" again in 30m0s`},
		{"EJ-18: before the deadline", deadline + "61}", "p1:running p2", "+p2 Running match=2 running=1 succeeded=0 waiting=0 failed=0 again in 1s"},
		{"EJ-18: at the deadline", deadline + "60}", "p1:running p2", `Failed match=2 running=1 succeeded=0 waiting=0 failed=0 finished "DeadlineExceeded" again in 30m0s`},
		{"EJ-18: without pods", deadline + "60}", "", `Failed match=0 running=0 succeeded=0 waiting=0 failed=0 finished "DeadlineExceeded" again in 30m0s`},
		{"EJ-18: trace D: deadline 0", fresh + "\nspec: {activeDeadlineSeconds: 0}", "p1", `add the finalizer Failed match=1 running=0 succeeded=0 waiting=0 failed=0 finished "DeadlineExceeded" again in 30m0s`},
		{"EJ-18: a deadline after centuries", deadline + "9223372036854775807}", "p1:running", "Running match=1 running=1 succeeded=0 waiting=0 failed=0"},
		{"EJ-18: with an error in the spec", deadline + "60, template: {ephemeralContainers: []}}", "p1", `Failed match=1 running=0 succeeded=0 waiting=0 failed=0 finished "DeadlineExceeded" "InvalidSpec" again in 30m0s`},
		{"EJ-18: the pods have ended in time", deadline + "60}", "p1:exit0", `Succeeded match=1 running=0 succeeded=1 waiting=0 failed=0 finished "JobSucceeded" again in 30m0s`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, show(NewPlan(place(t, jobOf(t, test.job), test.pods)))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanOfAFinishedJob(t *testing.T) {
	const done = "status: {phase: Succeeded, match: 1, succeeded: 1, completionTime: '2026-01-01T11:50:00Z'}\n"
	for _, test := range []struct{ name, job, want string }{
		{"EJ-1: nothing concerns it", done, "again in 20m0s"},
		{"EJ-1: its spec has changed", done + "metadata: {generation: 2}", "Succeeded match=1 running=0 succeeded=1 waiting=0 failed=0 finished again in 20m0s"},
		{"EJ-2: the finalizer is gone", done + "metadata: {finalizers: []}", "add the finalizer again in 20m0s"},
		{"EJ-19: the TTL", done + "spec: {ttlSecondsAfterFinished: 601}", "again in 1s"},
		{"EJ-19: is over", done + "spec: {ttlSecondsAfterFinished: 600}", "delete the job"},
		{"EJ-19: none", done + "spec: {ttlSecondsAfterFinished: 0}", "delete the job"},
		{"EJ-19: less than none", done + "spec: {ttlSecondsAfterFinished: -5}", "delete the job"},
		{"EJ-2, EJ-19: no finalizer for what is deleted", done + "metadata: {finalizers: []}\nspec: {ttlSecondsAfterFinished: 0}", "delete the job"},
		{"EJ-20: it is being deleted", done + "metadata: {deletionTimestamp: '2026-01-01T11:59:00Z'}", "remove the finalizer"},
		{"EJ-20: without the finalizer", done + "metadata: {deletionTimestamp: '2026-01-01T11:59:00Z', finalizers: [a/b]}", ""},
		{"EJ-20: before it has finished", "metadata: {deletionTimestamp: '2026-01-01T11:59:00Z'}", "remove the finalizer"},
		{"EJ-20: with a selector that cannot be read", "metadata: {deletionTimestamp: '2026-01-01T11:59:00Z'}\nspec: {selector: {matchExpressions: [{key: a, operator: Like}]}}", "remove the finalizer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, show(NewPlan(place(t, jobOf(t, test.job), "p1 p2")))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// EJ-V2: what is wrong with a spec.
func TestProblems(t *testing.T) {
	for _, test := range []struct{ name, spec, want string }{
		{"no selector", "selector: null", "spec.selector is missing: say by which labels the pods are found"},
		{"another operator", "selector: {matchExpressions: [{key: a, operator: Like}]}", `spec.selector: "Like" is not a valid label selector operator`},
		{"no containers", "template: {ephemeralContainers: []}", "spec.template.ephemeralContainers is empty: list the containers to inject"},
		{"no name", "template: {ephemeralContainers: [{image: a}]}", "spec.template.ephemeralContainers[0] has no name"},
		{"a name twice", "template: {ephemeralContainers: [{name: a}, {name: b}, {name: a}]}", "spec.template.ephemeralContainers[2]: another one is called a too"},
		{"no list", "template: {ephemeralContainers: some}", "spec.template.ephemeralContainers cannot be read: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := place(t, newJob(), "p1 p2:running")
			s.Job = jobOf(t, "spec: {"+test.spec+"}")
			plan := NewPlan(s)
			if len(plan.Inject) > 0 || len(plan.Problems) == 0 || !strings.HasPrefix(plan.Problems[0].Err.Error(), test.want) {
				t.Errorf("injected %v, problems %v, want %s", plan.Inject, plan.Problems, test.want)
			}
			if plan.Status.Phase != v1alpha1.EphemeralJobError || len(plan.Events) != 1 || plan.Events[0].Reason != eventInvalidSpec {
				t.Errorf("phase %s, events %v", plan.Status.Phase, plan.Events)
			}
			want := "JobError=True Error: " + plan.Problems[0].Err.Error()
			if got := conditions(plan.Status); got[len(got)-1] != want {
				t.Errorf("conditions %v, want %s", got, want)
			}
			s.Job.Status = *plan.Status
			if plan := NewPlan(s); show(plan) != "" {
				t.Errorf("the next plan is to %s", show(plan))
			}
			s.Job.Spec = newJob().Spec
			plan = NewPlan(s)
			if got := conditions(plan.Status); plan.Status.Phase != v1alpha1.EphemeralJobRunning || got[len(got)-1] != "JobError=False Valid" {
				t.Errorf("once it is put right: phase %s, conditions %v", plan.Status.Phase, got)
			}
		})
	}
	if plan := NewPlan(nil); len(plan.Problems) != 1 {
		t.Errorf("without a job: %+v", plan)
	}
}

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

// EJ-9, EJ-14, EJ-17: why pods wait.
func TestWaiting(t *testing.T) {
	for _, test := range []struct{ job, pods, want string }{
		{"spec: {parallelism: 2}", "p1:running p2 p3", "p3: parallelism 2: containers are under way in 2 pods"},
		{"spec: {paused: true}", "p1", "p1: spec.paused is true"},
		{"spec: {template: {ephemeralContainers: []}}", "p1", "p1: spec.template.ephemeralContainers is empty: list the containers to inject"},
		{"spec: {parallelism: 2}", "p1 p2", ""},
	} {
		var got []string
		for _, w := range NewPlan(place(t, jobOf(t, test.job), test.pods)).Waiting {
			got = append(got, w.String())
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s: waiting %v, want %s", test.job, got, test.want)
		}
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

// EJ-9, EJ-15: what does not start holds up no other pod, and is told.
func TestPlanDoesNotWaitForEver(t *testing.T) {
	const unscheduled, dead, image, config = "p1:pending p2", "p1:injected p2", "p1:waiting p2", "p1:badconfig p2"
	for _, test := range []struct {
		name, pods string
		after      time.Duration
		want       string
		told       string
	}{
		{"a pod without a node", unscheduled, 0, "try +p2 Unknown match=2 running=0 succeeded=0 waiting=0 failed=0", "p1: it has no node"},
		{"the kubelet has time to report", dead, 119 * time.Second, "Unknown match=2 running=0 succeeded=0 waiting=0 failed=0 again in 1s", ""},
		{"the kubelet is dead", dead, 2 * time.Minute, "+p2 Unknown match=2 running=0 succeeded=0 waiting=0 failed=0", "p1: the kubelet of node node has not reported on the containers"},
		{"the image cannot be pulled", image, 2 * time.Minute, "+p2 Unknown match=2 running=0 succeeded=0 waiting=1 failed=0", "p1: container debug waits: ImagePullBackOff "},
		{"the container cannot be created, for a while", config, 2 * time.Minute, "+p2 Unknown match=2 running=0 succeeded=0 waiting=1 failed=0 again in 3m0s",
			"p1: container debug waits: CreateContainerConfigError no such secret"},
		{"the container cannot be created", config, 5 * time.Minute, "+p2 Unknown match=2 running=0 succeeded=0 waiting=0 failed=1", ""},
		{"nor in any other", "p1:badconfig p2:exit0", 5 * time.Minute, "Failed match=2 running=0 succeeded=1 waiting=0 failed=1 finished \"JobFailed\" again in 30m0s", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := place(t, newJob(), test.pods)
			s.Idle = map[types.UID]time.Time{"p1": noon.Add(-test.after)}
			plan := NewPlan(s)
			if diff := cmp.Diff(test.want, show(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			told := ""
			for _, c := range plan.Status.Conditions {
				if c.Type == v1alpha1.EphemeralJobNotStarted {
					told = c.Message
				}
			}
			if told != test.told {
				t.Errorf("the condition says %q, want %q", told, test.told)
			}
			if plan.Status.Failed > 0 && !strings.Contains(fmt.Sprint(plan.Status.PodResults), "CreateContainerConfigError no such secret") {
				t.Errorf("results %+v", plan.Status.PodResults)
			}
		})
	}
}
