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

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulationFindsBugs plants bugs, each of which a few histories must find.
func TestSimulationFindsBugs(t *testing.T) {
	const most = 2 * seeds // every tenth finds the rarest
	for _, bug := range []struct {
		name, breaks string
		first        uint64 // the seed to begin with, which saves time
		plant        func(*Reconciler)
	}{
		{"results go with their pods", "BJ-19", 0, inPlan(func(s *Snapshot, p *Plan) {
			if p.Status != nil {
				p.Status.NodeResults = maps.Clone(p.Status.NodeResults)
				maps.DeleteFunc(p.Status.NodeResults, func(node string, _ v1alpha1.BroadcastJobNodeResult) bool {
					return !slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.Name == node && has(s, node) })
				})
			}
		})},
		{"results are not read", "BJ-19", 0, inJob(func(job *v1alpha1.BroadcastJob) { job.Status.NodeResults = nil })},
		{"names are random, and reconciles do not wait for the synced resourceVersion", "BJ-22", 0, func(r *Reconciler) {
			inPlan(func(_ *Snapshot, p *Plan) {
				for i, c := range p.Create {
					pod := c.Pod.DeepCopy()
					pod.Name = fmt.Sprint("web-", rand.Uint64())
					p.Create[i] = rollout.PodCreation{Pod: pod}
				}
			})(r)
			r.shell.AllowStaleReads = true
		}},
		{"parallelism is not read", "BJ-12", 0, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.Parallelism = nil })},
		{"one pod too many", "BJ-20", 0, inPlan(func(_ *Snapshot, p *Plan) {
			if p.Status != nil {
				p.Status.Active++
			}
		})},
		{"creations that failed are counted", "BJ-20", 0, func(r *Reconciler) {
			r.shell.Apply = func(ctx context.Context, s *Snapshot, p *Plan) (time.Duration, error) {
				_, _ = r.apply(ctx, s, &Plan{Status: p.Status})
				if p.Status != nil {
					s = &Snapshot{Job: s.Job.DeepCopy()}
					s.Job.Status = *p.Status
				}
				return r.apply(ctx, s, &Plan{Create: p.Create, Delete: p.Delete, Events: p.Events, RequeueAfter: p.RequeueAfter, DeleteJob: p.DeleteJob})
			}
		}},
		{"a restart forgets the deadline", "BJ-1", 3, inPlan(func(s *Snapshot, p *Plan) {
			if s.Job.Status.StartTime != nil {
				p.RequeueAfter = 0
			}
		})},
		{"the deadline is not read", "BJ-10", 3, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.CompletionPolicy.ActiveDeadlineSeconds = nil })},
		{"a job that fails leaves its pods", "BJ-11", 1, inPlan(func(s *Snapshot, p *Plan) {
			if p.StatusFirst || s.over() {
				p.Delete = nil
			}
		})},
		{"pods on nodes that do not fit any more stay", "BJ-7", 0, inPlan(func(_ *Snapshot, p *Plan) {
			p.Delete = slices.DeleteFunc(p.Delete, func(d Deletion) bool {
				leaves := strings.Contains(d.Reason, string(nodefit.Unschedulable))
				if leaves && d.Active && p.Status != nil {
					p.Status.Active++
				}
				return leaves
			})
		})},
		{"a job is over with its first node", "BJ-13", 0, inPlan(func(s *Snapshot, p *Plan) {
			if st := p.Status; st != nil && st.Succeeded > 0 && s.always() && st.CompletionTime == nil {
				(&planner{Snapshot: s, plan: p, status: *st}).end(v1alpha1.PhaseCompleted, v1alpha1.JobComplete, "early")
				now := s.now()
				st.Phase, st.CompletionTime = v1alpha1.PhaseCompleted, &now
				st.Conditions = []v1alpha1.JobCondition{{Type: v1alpha1.JobComplete, Status: "True"}}
			}
		})},
		{"a job that never ends is completed", "BJ-15", 2, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.CompletionPolicy.Type = v1alpha1.Always })},
		{"paused is not read", "BJ-8", 0, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.Paused = false })},
		{"FailFast goes on", "BJ-13", 1, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.FailurePolicy.Type = v1alpha1.FailurePolicyTypeContinue })},
		{"Continue fails", "BJ-9", 0, inJob(func(job *v1alpha1.BroadcastJob) { job.Spec.FailurePolicy.Type = v1alpha1.FailurePolicyTypeFailFast })},
		{"nodes that are run are run again", "BJ-2", 0, inPlan(func(s *Snapshot, p *Plan) {
			if s.over() && len(s.Pods) == 0 {
				maker := (&planner{Snapshot: s}).newPodMaker()
				p.Create = []rollout.PodCreation{{Pod: maker.pod("node-0009", map[string]bool{})}}
			}
		})},
	} {
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			others := map[string]int{}
			for i := range uint64(most) {
				seed := bug.first + i
				var wrong []violation
				inCluster(t, func(_ *testing.T, c *cluster) {
					c.plant = bug.plant
					wrong, _ = c.simulate(seed)
				})
				if slices.ContainsFunc(wrong, func(v violation) bool { return v.rule == bug.breaks }) {
					t.Logf("found by seed %d", seed)
					return
				}
				for _, v := range wrong {
					others[v.rule]++
				}
			}
			t.Errorf("no violation of %s in %d histories; of others: %v", bug.breaks, most, others)
		})
	}
}

// inPlan is a bug of every plan.
func inPlan(spoil func(*Snapshot, *Plan)) func(*Reconciler) {
	return func(r *Reconciler) {
		plan := r.shell.Plan
		r.shell.Plan = func(s *Snapshot) *Plan {
			p := plan(s)
			spoil(s, p)
			return p
		}
	}
}

// inJob is a bug of what is read of the job.
func inJob(misread func(*v1alpha1.BroadcastJob)) func(*Reconciler) {
	return func(r *Reconciler) {
		plan := r.shell.Plan
		r.shell.Plan = func(s *Snapshot) *Plan {
			with := *s
			with.Job = s.Job.DeepCopy()
			misread(with.Job)
			return plan(&with)
		}
	}
}

// has tells whether a node has a pod.
func has(s *Snapshot, node string) bool {
	for _, pod := range s.Pods {
		if placeOf(pod) == node {
			return true
		}
	}
	return false
}
