// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

type spoil = simulation.Spoil[Options, Reconciler]

// TestSimulationFindsBugs plants bugs into the controller: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	var bugs []simulation.Bug
	for _, b := range []struct {
		name   string
		breaks invariants.Invariant
		seed   uint64
		bug    spoil
	}{
		{"paused jobs inject", invariants.Paused, 0, misread(func(s *Snapshot) { s.Job.Spec.Paused = false })},
		{"parallelism is one too many", invariants.Surge, 6, misread(func(s *Snapshot) {
			if p := s.Job.Spec.Parallelism; p != nil {
				s.Job.Spec.Parallelism = new(*p + 1)
			}
		})},
		{"pods that wait do not count", invariants.Surge, 44, inPlan(func(s *Snapshot, p *Plan) {
			waits := slices.ContainsFunc(p.Targets, func(t Target) bool { return t.State == Waiting || t.State == Injected })
			for _, w := range p.Waiting {
				if waits && len(p.Inject) == 0 && w.Reason.Rule == ruleParallelism {
					p.Inject, p.Containers = []*corev1.Pod{w.Pod}, containersFor(s.Job)
				}
			}
		})},
		{"replicas are forgotten", invariants.Placement, 9, misread(func(s *Snapshot) { s.Job.Spec.Replicas = nil })},
		{"pods that have ended count", invariants.Placement, 18, misread(func(s *Snapshot) {
			onPods(s, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning })
		})},
		{"pods that go count", invariants.Status, 35, misread(func(s *Snapshot) {
			onPods(s, func(pod *corev1.Pod) { pod.DeletionTimestamp = nil })
		})},
		{"any pod of the name gets containers", invariants.Ownership, 0, onWire(simulation.SpoilBodies(http.MethodPatch, "pods", simulation.Forget("metadata", "uid")))},
		{"containers have no mark", invariants.Spec, 0, inPlan(func(_ *Snapshot, p *Plan) {
			for i := range p.Containers {
				p.Containers[i].Env = nil
			}
		})},
		{"containers have other names each time", invariants.Identity, 0, inPlan(func(s *Snapshot, p *Plan) {
			for _, target := range p.Targets {
				if len(p.Inject) == 0 && target.State == Succeeded && s.Job.Status.CompletionTime == nil {
					p.Inject, p.Containers = []*corev1.Pod{target.Pod}, containersFor(s.Job)
					p.Containers[0].Name += "-again"
				}
			}
		})},
		{"jobs that are over inject", invariants.Needless, 0, misread(func(s *Snapshot) { s.Job.Spec.ActiveDeadlineSeconds = nil })},
		{"a deadline is not told", invariants.Status, 9, misread(func(s *Snapshot) { s.Job.Spec.ActiveDeadlineSeconds = nil })},
		{"nobody looks when the deadline has come", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 })},
		{"jobs are deleted when they finish", invariants.Needless, 1, misread(func(s *Snapshot) { s.Job.Spec.TTLSecondsAfterFinished = new(int32) })},
		{"whatever job has the name is deleted", invariants.Ownership, 0, onWire(simulation.SpoilDeletions(`{}`))},
		{"finished jobs stay", invariants.Settled, 2, inPlan(func(_ *Snapshot, p *Plan) { p.DeleteJob = false })},
		{"a failure is no failure", invariants.Status, 1, misread(func(s *Snapshot) {
			onPods(s, func(pod *corev1.Pod) {
				for i := range pod.Status.EphemeralContainerStatuses {
					if ended := pod.Status.EphemeralContainerStatuses[i].State.Terminated; ended != nil {
						ended.ExitCode = 0
					}
				}
			})
		})},
		{"finished jobs reopen", invariants.History, 0, misread(func(s *Snapshot) { s.Job.Status.CompletionTime = nil })},
		{"finalizers of others are lost", invariants.Ownership, 3, onWire(simulation.SpoilBodies(http.MethodPatch, "ephemeraljobs", func(body map[string]any) {
			if metadata, ok := body["metadata"].(map[string]any); ok && metadata["finalizers"] != nil {
				metadata["finalizers"] = []string{v1alpha1.EphemeralJobFinalizer}
			}
		}))},
		{"the finalizer stays", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.RemoveFinalizer = false })},
		{"the finalizer is forgotten", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.AddFinalizer = false })},
		{"a status is written whatever it has become", invariants.Status, 0, onWire(simulation.SpoilBodies(http.MethodPatch, "ephemeraljobs", simulation.Forget("metadata", "resourceVersion")))},
		{"refused pods are never tried again", invariants.Settled, 62, misread(func(s *Snapshot) {
			for uid, refusal := range s.Refusals.Pods {
				refusal.Until = s.Now.Add(time.Hour)
				s.Refusals.Pods[uid] = refusal
			}
		})},
		{"refusals are not remembered", invariants.Settled, 19, misread(func(s *Snapshot) { s.Refusals = Refusals{} })},
	} {
		bugs = append(bugs, simulation.Bug{Name: b.name, Breaks: b.breaks, First: b.seed, Workload: simulated(&b.bug)})
	}
	simulation.FindBugs(t, bugs)
}

// inPlan plants a bug into plans, misread into what they are made of.
func inPlan(change func(*Snapshot, *Plan)) spoil {
	return spoil{Reconciler: func(r Reconciler) { controller.KindOf(r).Plan = simulation.Spoiled(NewPlan, change) }}
}

func misread(change func(*Snapshot)) spoil {
	return spoil{Reconciler: func(r Reconciler) {
		controller.KindOf(r).Plan = func(s *Snapshot) *Plan {
			wrong := *s
			wrong.Job = s.Job.DeepCopy()
			change(&wrong)
			return NewPlan(&wrong)
		}
	}}
}

// onWire plants a bug into requests.
func onWire(wrap func(http.RoundTripper) http.RoundTripper) spoil {
	return spoil{Config: func(c *rest.Config) { c.Wrap(wrap) }}
}

// onPods changes copies of the pods of a snapshot.
func onPods(s *Snapshot, change func(*corev1.Pod)) {
	s.Pods = slices.Clone(s.Pods)
	for i, pod := range s.Pods {
		s.Pods[i] = pod.DeepCopy()
		change(s.Pods[i])
	}
}
