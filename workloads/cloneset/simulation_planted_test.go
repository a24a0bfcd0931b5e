// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulationFindsBugsOfProgress plants bugs in what consumers read, and in OnDelete.
func TestSimulationFindsBugsOfProgress(t *testing.T) {
	plant := simulation.Plant(t, simulated)
	plant("OnDelete is taken for ReCreate", invariants.Needless, 25, inSpec(func(spec *v1alpha1.CloneSetSpec) {
		if spec.UpdateStrategy.Type == v1alpha1.OnDeleteCloneSetUpdateStrategyType {
			spec.UpdateStrategy.Type = v1alpha1.RecreateCloneSetUpdateStrategyType
		}
	}))
	plant("the progress deadline does not start anew with progress", invariants.Status, 7, inPlan(keepDeadline))
	plant("a status counts pods that could not be created", invariants.Status, 0, bug{Reconciler: func(r Reconciler) {
		controller.KindOf(r).Apply = func(ctx context.Context, s *Snapshot, p *Plan) (time.Duration, error) {
			a := controller.KindOf(r).Self.(*reconciler).begin(s, p)
			if settled, err := a.WriteOrHold(ctx, a.planWithout); err != nil || !settled {
				return controller.StaleRetry, err
			}
			err := errors.Join(a.disownClaims(ctx), a.CreateClaims(ctx), a.applyPods(ctx), a.Report(ctx), a.prune(ctx))
			return a.RequeueAfter(), apply.WorthRetrying(err)
		}
	}})
	plant("the first status of a new generation misleads", invariants.Status, 43, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil {
			p.Status.ObservedGeneration = s.Set.Generation
		}
	}))
	plant("the status does not wait for a spec that is not reached", invariants.Status, 0, inStatus(func(status *v1alpha1.CloneSetStatus) { statuses.Reach(status) }))
}

// keepDeadline has the deadline run on if pods have been updated or become available.
func keepDeadline(s *Snapshot, p *Plan) {
	if p.Status == nil {
		return
	}
	before, after := statuses.Find(&s.Set.Status, v1alpha1.CloneSetConditionProgressing), statuses.Find(p.Status, v1alpha1.CloneSetConditionProgressing)
	if before != nil && after != nil && after.Reason == v1alpha1.CloneSetUpdated {
		after.LastUpdateTime = before.LastUpdateTime
	}
}

// keepLatestTimer has the set enqueued when the last of the pods that are ready
// becomes available, and not the first.
func keepLatestTimer(s *Snapshot, p *Plan) {
	for _, pod := range s.Pods {
		if in, willBe := lifecycle.AvailableIn(pod, s.Set.Spec.MinReadySeconds, s.Now); willBe && podstate.Active(pod) {
			p.RequeueAfter = max(p.RequeueAfter, in)
		}
	}
}

// stagger has pods become available at different times.
func stagger(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil && r.IntN(2) == 0 {
		u.DeletePod(pod.Name, new(int64))
		return
	}
	u.Edit(simulation.AnyEdit(r, simulation.ReadEdits("stagger")))
}

// deleteServing deletes, in place of the only surplus pod, one of its revision that
// serves.
func deleteServing(s *Snapshot, p *Plan) {
	if len(p.Delete) != 1 || p.Delete[0].For != rollout.DeleteForScale || p.Diff.ScaleDown == 0 || lifecycle.Ready(p.Delete[0].Pod) {
		return
	}
	for _, pod := range s.Pods {
		if podstate.Active(pod) && pod.Labels[podplan.RevisionLabel] == p.Delete[0].Pod.Labels[podplan.RevisionLabel] && lifecycle.Available(pod, s.Set.Spec.MinReadySeconds, s.Now) {
			p.Delete = []rollout.PodDeletion{{Pod: pod, For: rollout.DeleteForScale}}
			return
		}
	}
}

// advanceEarly takes pods that are missing for updated ones.
func advanceEarly(_ *Snapshot, p *Plan) {
	if p.Status != nil && p.Status.UpdatedReplicas == p.Status.Replicas {
		p.Status.CurrentRevision = p.Status.UpdateRevision
	}
}

// forgetGrace takes pods within their grace period for others.
func forgetGrace(s *Snapshot) {
	for _, pod := range s.Pods {
		delete(pod.Annotations, inplacev1alpha1.GraceAnnotation)
		delete(pod.Annotations, inplacev1alpha1.LegacyGraceAnnotation)
	}
}

// releaseUnready leaves the claims of pods that are not ready without an owner.
func releaseUnready(s *Snapshot, p *Plan) {
	for _, claim := range s.Claims {
		for _, pod := range s.Pods {
			if podstate.Active(pod) && mounts(pod, claim.Name) && !lifecycle.Ready(pod) {
				p.PatchClaims = append(p.PatchClaims, releaseClaim(claim, s.Set.UID, nil))
			}
		}
	}
}

// forgetClaimsOfReleased does not see the claims of pods that the selector does not match.
func forgetClaimsOfReleased(s *Snapshot) {
	s.Claims = slices.DeleteFunc(s.Claims, func(claim *corev1.PersistentVolumeClaim) bool {
		return slices.ContainsFunc(s.Pods, func(pod *corev1.Pod) bool { return pod.Labels["app"] == "" && mounts(pod, claim.Name) })
	})
}
