// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

type spoil = simulation.Spoil[Options, Reconciler]

// inPlan plants a bug into plans, misreading into what planners see, and onWire into requests.
var (
	inPlan     = planted.InPlan[Options, Snapshot, Plan]
	misreading = planted.Misread[Options, Snapshot, Plan]
	onWire     = simulation.OnWire[Options, Reconciler]
)

// TestSimulationFindsBugs plants bugs into the controller: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, func(b spoil) *simulation.Subject { return simulated(&b) })
	plant("paused jobs inject", invariants.Paused, 0, misreading(func(s *Snapshot) { s.Job.Spec.Paused = false }))
	plant("parallelism is one too many", invariants.Surge, 6, misreading(func(s *Snapshot) {
		if p := s.Job.Spec.Parallelism; p != nil {
			s.Job.Spec.Parallelism = new(*p + 1)
		}
	}))
	plant("pods that wait do not count", invariants.Surge, 44, inPlan(func(s *Snapshot, p *Plan) {
		waits := slices.ContainsFunc(p.Targets, func(t Target) bool { return t.State == Waiting || t.State == Injected })
		for _, w := range p.Waiting {
			if waits && len(p.Inject) == 0 && w.Reason.Rule == ruleParallelism {
				p.Inject, p.Containers = []*corev1.Pod{w.Pod}, containersFor(s.Job)
			}
		}
	}))
	plant("replicas are forgotten", invariants.Placement, 9, misreading(func(s *Snapshot) { s.Job.Spec.Replicas = nil }))
	plant("pods that have ended count", invariants.Placement, 18,
		misreading(planted.EachPod[Snapshot](func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning })))
	plant("pods that go count", invariants.Status, 35, misreading(planted.EachPod[Snapshot](func(pod *corev1.Pod) { pod.DeletionTimestamp = nil })))
	plant("any pod of the name gets containers", invariants.Ownership, 0, onWire(simulation.Forgetting(http.MethodPatch, "pods", "metadata", "uid")))
	plant("containers have no mark", invariants.Spec, 0, inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.Containers {
			p.Containers[i].Env = nil
		}
	}))
	plant("containers have other names each time", invariants.Identity, 0, inPlan(func(s *Snapshot, p *Plan) {
		for _, target := range p.Targets {
			if len(p.Inject) == 0 && target.State == Succeeded && s.Job.Status.CompletionTime == nil {
				p.Inject, p.Containers = []*corev1.Pod{target.Pod}, containersFor(s.Job)
				p.Containers[0].Name += "-again"
			}
		}
	}))
	plant("jobs that are over inject", invariants.Needless, 0, misreading(func(s *Snapshot) { s.Job.Spec.ActiveDeadlineSeconds = nil }))
	plant("a deadline is not told", invariants.Status, 9, misreading(func(s *Snapshot) { s.Job.Spec.ActiveDeadlineSeconds = nil }))
	plant("the deadline comes, and no reconcile looks", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 }))
	plant("jobs are deleted when they finish", invariants.Needless, 1, misreading(func(s *Snapshot) { s.Job.Spec.TTLSecondsAfterFinished = new(int32) }))
	plant("whatever job has the name is deleted", invariants.Ownership, 0, onWire(simulation.SpoilDeletions(`{}`)))
	plant("finished jobs stay", invariants.Settled, 2, inPlan(func(_ *Snapshot, p *Plan) { p.DeleteJob = false }))
	plant("a failure is no failure", invariants.Status, 1, misreading(planted.EachPod[Snapshot](func(pod *corev1.Pod) {
		for i := range pod.Status.EphemeralContainerStatuses {
			if ended := pod.Status.EphemeralContainerStatuses[i].State.Terminated; ended != nil {
				ended.ExitCode = 0
			}
		}
	})))
	plant("finished jobs reopen", invariants.History, 0, misreading(func(s *Snapshot) { s.Job.Status.CompletionTime = nil }))
	plant("finalizers of others are lost", invariants.Ownership, 3, onWire(simulation.SpoilBodies(http.MethodPatch, "ephemeraljobs", func(body map[string]any) {
		if metadata, ok := body["metadata"].(map[string]any); ok && metadata["finalizers"] != nil {
			metadata["finalizers"] = []string{v1alpha1.EphemeralJobFinalizer}
		}
	})))
	plant("the finalizer stays", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.RemoveFinalizer = false }))
	plant("the finalizer is forgotten", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.AddFinalizer = false }))
	plant("a status is written whatever it has become", invariants.Status, 0,
		onWire(simulation.Forgetting(http.MethodPatch, "ephemeraljobs", "metadata", "resourceVersion")))
	plant("refused pods are never tried again", invariants.Settled, 62, misreading(func(s *Snapshot) {
		for uid, refusal := range s.Refusals.Pods {
			refusal.Until = s.Now.Add(time.Hour)
			s.Refusals.Pods[uid] = refusal
		}
	}))
	plant("refusals are not remembered", invariants.Settled, 19, misreading(func(s *Snapshot) { s.Refusals = Refusals{} }))
}
