// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// bug is a bug of the controller.
type bug = simulation.Spoil[Options, Reconciler]

// inPlan plants a bug into plans, inStatus into what a status says, misreading into what planners see, and onWire into requests.
var (
	inPlan     = planted.InPlan[Options, Snapshot, Plan]
	inStatus   = planted.InStatus[Options, Snapshot, Plan, v1alpha1.BroadcastJobStatus]
	misreading = planted.Misread[Options, Snapshot, Plan]
	onWire     = simulation.OnWire[Options, Reconciler]
)

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, simulated)
	plant("results go with their pods", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil {
			p.Status.NodeResults = maps.Clone(p.Status.NodeResults)
			maps.DeleteFunc(p.Status.NodeResults, func(node string, _ v1alpha1.BroadcastJobNodeResult) bool {
				return !slices.ContainsFunc(s.Pods, func(pod *corev1.Pod) bool { return scheduler.NodeOf(pod) == node })
			})
		}
	}))
	plant("results are not read", invariants.Status, 1, inJob(func(job *v1alpha1.BroadcastJob) { job.Status.NodeResults = nil }))
	plant("nodes that have a pod get another one", invariants.Placement, 2, misreading(func(s *Snapshot) {
		s.Pods = slices.DeleteFunc(s.Pods, func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodPending })
		s.TakenNames = map[string]bool{}
		for _, node := range s.Nodes {
			s.TakenNames[nodefit.PodName(s.Job, node.Name, s.Former[node.Name], 0)] = true
		}
	}))
	plant("names differ each time, and reconciles do not wait for the synced resourceVersion", invariants.Placement, 0, bug{Reconciler: func(r Reconciler) {
		controller.KindOf(r).AllowStaleReads = true
		named := 0
		inPlan(func(_ *Snapshot, p *Plan) {
			for i, c := range p.Create {
				pod := c.Pod.DeepCopy()
				named++
				pod.Name = fmt.Sprint("web-", named)
				p.Create[i] = rollout.PodCreation{Pod: pod}
			}
		}).Reconciler(r)
	}})
	plant("cordoned nodes get pods", invariants.Placement, 0, misreading(func(s *Snapshot) {
		for _, node := range s.Nodes {
			node.Spec = corev1.NodeSpec{}
		}
	}))
	plant("a node is forgotten", invariants.Placement, 3, misreading(func(s *Snapshot) {
		s.Nodes = slices.DeleteFunc(s.Nodes, func(n *corev1.Node) bool { return n.Name == "n3" })
	}))
	plant("parallelism is not read", invariants.ScaleRate, 0, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.Parallelism = nil }))
	plant("parallelism is one too many", invariants.ScaleRate, 0, inJob(func(job *v1alpha1.BroadcastJob) {
		if job.Spec.Parallelism != nil {
			job.Spec.Parallelism.IntVal++
		}
	}))
	plant("one pod too many is counted", invariants.Status, 0, inStatus(func(status *v1alpha1.BroadcastJobStatus) { status.Active++ }))
	plant("creations that failed are counted", invariants.Status, 0, bug{Reconciler: func(r Reconciler) {
		kind := controller.KindOf(r)
		apply := kind.Apply
		kind.Apply = func(ctx context.Context, s *Snapshot, p *Plan) (time.Duration, error) {
			_, _ = apply(ctx, s, &Plan{Status: p.Status})
			if p.Status != nil {
				s = &Snapshot{Job: s.Job.DeepCopy(), Now: s.Now}
				s.Job.Status = *p.Status
			}
			return apply(ctx, s, &Plan{Create: p.Create, Delete: p.Delete, Events: p.Events, RequeueAfter: p.RequeueAfter, DeleteJob: p.DeleteJob})
		}
	}})
	plant("a restart forgets the deadline", invariants.Settled, 0, inPlan(func(s *Snapshot, p *Plan) {
		if s.Job.Status.StartTime != nil {
			p.RequeueAfter = 0
		}
	}))
	plant("the deadline is not read", invariants.Settled, 21, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.CompletionPolicy.ActiveDeadlineSeconds = nil }))
	plant("a job is deleted as soon as it has ended", invariants.Needless, 0, inPlan(func(s *Snapshot, p *Plan) { p.DeleteJob = s.over() }))
	plant("a job that fails leaves its pods", invariants.Settled, 93, inPlan(func(s *Snapshot, p *Plan) {
		if p.StatusFirst || s.over() {
			p.Delete = nil
		}
	}).While(restart))
	plant("pods that restart too often run", invariants.Status, 36, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.FailurePolicy.RestartLimit = 100 }))
	plant("pods stay where they must not", invariants.Placement, 99, inPlan(func(_ *Snapshot, p *Plan) {
		p.Delete = slices.DeleteFunc(p.Delete, func(d Deletion) bool { return strings.Contains(d.Reason, "does not fit") })
	}))
	plant("a job is complete with its first node", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
		if st := p.Status; st != nil && st.Succeeded > 0 && s.always() && st.CompletionTime == nil {
			(&planner{Snapshot: s, plan: p, status: *st}).end(v1alpha1.PhaseCompleted, v1alpha1.JobComplete, "early")
			now := s.now()
			st.Phase, st.CompletionTime = v1alpha1.PhaseCompleted, &now
			st.Conditions = []v1alpha1.JobCondition{{Type: v1alpha1.JobComplete, Status: "True"}}
		}
	}))
	plant("a job that never ends is completed", invariants.Status, 0, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.CompletionPolicy.Type = v1alpha1.Always }))
	plant("paused is not read", invariants.Paused, 5, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.Paused = false }))
	plant("FailFast goes on", invariants.Contained, 2, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.FailurePolicy.Type = v1alpha1.FailurePolicyTypeContinue }))
	plant("Continue fails", invariants.Status, 2, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.FailurePolicy.Type = v1alpha1.FailurePolicyTypeFailFast }))
	plant("nodes are run again when the job is over", invariants.Needless, 1, inPlan(func(s *Snapshot, p *Plan) {
		if s.over() && len(p.Delete) == 0 && len(s.Pods) < 3 {
			maker := (&planner{Snapshot: s}).newPodMaker()
			p.Create = []rollout.PodCreation{{Pod: maker.pod("n1", "", map[string]bool{})}}
		}
	}))
	plant("deletions do not name the UID", invariants.Ownership, 0, onWire(simulation.SpoilDeletions("{}")))
}

// inJob plants a bug into how planners read the job.
func inJob(misread func(*v1alpha1.BroadcastJob)) bug {
	return misreading(func(s *Snapshot) { misread(s.Job) })
}

// restart has pods restart again and again, and jobs fail for that.
func restart(u *simulation.User, r *rand.Rand) {
	u.Edit(simulation.AnyEdit(r, simulation.ReadEdits("restart")))
}
