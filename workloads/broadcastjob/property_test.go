// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestPlanKeepsItsPromises changes a job, its pods and the nodes at random and checks every plan on the way. At last nothing
// interferes any more, and no pod fails. Then the job must come to its end, or to a state in which every node has a result.
func TestPlanKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newScenario(t)
		w.TB = nil
		check := &promises{T: rt, w: w}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			check.interfere()
			check.reconcile()
		}
		check.converge()
	})
}

// promises checks the plans of a scenario.
type promises struct {
	*rapid.T
	w *jobScenario
}

var somePlaces = []string{"n1", "n2", "n3", "n4", "n5"}

// interfere does what users, kubelets and nodes do.
func (p *promises) interfere() {
	w, place := p.w, rapid.SampledFrom(somePlaces).Draw(p.T, "place")
	what := rapid.SampledFrom([]string{
		"kubelets", "kubelets", "kubelets", "succeed", "succeed", "fail", "delete", "force", "join", "join", "join", "leave", "cordon", "uncordon", "uncordon", "clock",
		"parallelism", "policy", "completion", "pause", "lost status",
	}).Draw(p.T, "event")
	pod := w.podOf(place)
	switch {
	case what == "kubelets":
		w.kubelets()
	case what == "succeed":
		w.end(place, corev1.PodSucceeded)
	case what == "fail":
		w.end(place, corev1.PodFailed)
	case what == "delete" && pod != nil && pod.DeletionTimestamp == nil:
		w.deletePod(pod.Name)
	case what == "force" && pod != nil:
		pod.Status.Phase = corev1.PodFailed
		w.deletePod(pod.Name)
	case what == "join":
		w.addNode(place)
	case what == "leave":
		w.removeNode(place)
	case what == "cordon" && w.node(place) != nil:
		w.node(place).Spec.Unschedulable = true
	case what == "uncordon" && w.node(place) != nil:
		w.node(place).Spec.Unschedulable = false
	case what == "clock":
		w.now = w.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(p.T, "seconds")) * time.Second)
	default:
		p.interfereSpec(what)
	}
}

func (p *promises) interfereSpec(what string) {
	w := p.w
	draw := func(values ...string) string { return rapid.SampledFrom(values).Draw(p.T, what) }
	switch what {
	case "parallelism":
		w.spec("parallelism: " + draw("0", "1", "2", "40%", "100"))
	case "policy":
		w.spec("failurePolicy: {type: " + draw("Continue", "Continue", "Pause", "FailFast") + "}")
	case "completion":
		w.spec("completionPolicy: {type: " + draw("Always", "Always", "Never") + ", activeDeadlineSeconds: " + draw("50", "500") + "}")
	case "pause":
		w.spec("paused: " + draw("true", "false"))
	}
}

// reconcile checks the next plan, and applies it; sometimes the manager dies in between.
func (p *promises) reconcile() {
	w := p.w
	s := w.snapshot()
	plan := NewPlan(s)
	p.check(s, plan)
	if again := NewPlan(w.snapshot()); show(again) != show(plan) {
		p.Fatalf("the same snapshot gives %s and %s", show(plan), show(again))
	}
	if !plan.StatusFirst && rapid.IntRange(0, 9).Draw(p.T, "dies") == 0 {
		plan.Status = nil // pods are created and deleted, and it is not written
	}
	before := s.Job.Status.NodeResults
	w.apply(plan)
	p.checkResults(before)
	if plan.Status == nil {
		return
	}
	if second := NewPlan(w.snapshot()); len(second.Create)+len(second.Delete) > 0 && len(plan.Create) > 0 && len(plan.Delete) == 0 {
		p.Fatalf("after %s nothing happened, and the next plan is %s", show(plan), show(second))
	}
}

// check checks what a plan must never do.
func (p *promises) check(s *Snapshot, plan *Plan) {
	taken := map[string]bool{}
	active := len(plan.Create)
	for _, pod := range s.Pods {
		taken[scheduler.NodeOf(pod)] = true
		if pod.DeletionTimestamp == nil && (pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning) {
			active++
		}
	}
	for _, d := range plan.Delete {
		if d.Active {
			active--
		}
	}
	if len(plan.Create) > 0 && int64(active) > int64(plan.Parallelism) {
		p.Fatalf("BJ-12: %d active pods, parallelism %d: %s", active, plan.Parallelism, show(plan))
	}
	pauses := s.Job.Spec.FailurePolicy.Type == v1alpha1.FailurePolicyTypePause
	for _, c := range plan.Create {
		node := scheduler.NodeOf(c.Pod)
		if taken[node] {
			p.Fatalf("a second pod for node %s: %s", node, show(plan))
		}
		taken[node] = true
		result := s.Job.Status.NodeResults[node]
		if result == v1alpha1.NodeSucceeded && s.always() || result == v1alpha1.NodeFailed && s.always() && !pauses {
			p.Fatalf("BJ-19: node %s has %s, and is run again: %s", node, result, show(plan))
		}
		if p.w.node(node) == nil || p.w.node(node).Spec.Unschedulable {
			p.Fatalf("BJ-6: a pod for node %s, which does not fit: %s", node, show(plan))
		}
	}
	if s.Job.Spec.Paused && s.Job.Status.Phase == v1alpha1.PhasePaused && len(plan.Create)+len(plan.Delete) > 0 {
		p.Fatalf("BJ-8: paused, and the plan is %s", show(plan))
	}
	if status := plan.Status; status != nil && s.Job.Status.Phase != v1alpha1.PhaseFailed && !s.over() {
		if int(status.Succeeded+status.Failed) != len(status.NodeResults) || status.Desired < status.Succeeded+status.Failed {
			p.Fatalf("BJ-19: %d results, %s", len(status.NodeResults), show(plan))
		}
		if status.Phase == v1alpha1.PhaseCompleted && s.always() && s.Job.Status.Phase != v1alpha1.PhaseCompleted && status.Succeeded+status.Failed != status.Desired {
			p.Fatalf("BJ-13: %s", show(plan))
		}
	}
}

// checkResults checks that no result was lost. (BJ-19)
func (p *promises) checkResults(before map[string]v1alpha1.BroadcastJobNodeResult) {
	job := p.w.job
	if job.Spec.CompletionPolicy.Type == v1alpha1.Never {
		return // it leaves with its node
	}
	pauses := job.Spec.FailurePolicy.Type == v1alpha1.FailurePolicyTypePause
	for node, result := range before {
		if after := job.Status.NodeResults[node]; after != result && (result == v1alpha1.NodeSucceeded || !pauses && after == "") {
			p.Fatalf("node %s had %s, and has %q now", node, result, after)
		}
	}
}

// converge lets everybody work without interference.
func (p *promises) converge() {
	w := p.w
	w.addNode("n1")
	w.node("n1").Spec.Unschedulable = false
	w.spec("paused: false\nparallelism: 2\nfailurePolicy: {type: Continue}\ncompletionPolicy: {type: Always, activeDeadlineSeconds: null}")
	for range 30 {
		w.kubelets()
		for _, pod := range w.pods {
			w.end(scheduler.NodeOf(pod), corev1.PodSucceeded)
		}
		p.reconcile()
	}
	s := w.job.Status
	if s.Phase != v1alpha1.PhaseCompleted && s.Phase != v1alpha1.PhaseFailed {
		p.Fatalf("the job does not end: %s", show(&Plan{Status: &s}))
	}
	if s.Phase == v1alpha1.PhaseCompleted && (s.Succeeded+s.Failed != s.Desired || s.Active != 0) {
		p.Fatalf("BJ-13: it ends as %s", show(&Plan{Status: &s}))
	}
	for _, pod := range w.pods {
		if pod.Status.Phase == corev1.PodRunning && s.Phase == v1alpha1.PhaseFailed {
			p.Fatalf("BJ-11: pod %s is left", pod.Name)
		}
	}
}
