// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// bug is a bug of the controller.
type bug = simulation.Spoil[Options, Reconciler]

// inPlan plants a bug into plans, inStatus into what a status says, misreading into what planners see, and onWire into requests.
var (
	inPlan     = planted.InPlan[Options, Snapshot, Plan]
	inStatus   = planted.InStatus[Options, Snapshot, Plan, v1alpha1.DaemonSetStatus]
	misreading = planted.MisreadAll[Options, Snapshot, Plan]
	onWire     = simulation.OnWire[Options, Reconciler]
)

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, simulated)
	plant("maxUnavailable is one too many", invariants.Availability, 6, inRolling(func(r *v1alpha1.RollingUpdateDaemonSet) {
		if r.MaxSurge == nil || r.MaxSurge.IntValue() == 0 {
			r.MaxUnavailable = ptr.To(intstr.FromInt32(3))
		}
	}))
	plant("pods that are not available are updated beside the limit", invariants.Availability, 9, inPlan(updateUnavailable))
	plant("what updates have taken out of service is forgotten", invariants.Availability, 0, misreading(forgetDisruptions).While(updateInTurn))
	plant("minReadySeconds is forgotten", invariants.Availability, 23, inSpec(func(s *v1alpha1.DaemonSetSpec) { s.MinReadySeconds = 0 }))
	plant("nothing is enqueued when minReadySeconds have passed", invariants.Settled, 3, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 }))
	plant("maxSurge is one too many", invariants.Surge, 9, inRolling(func(r *v1alpha1.RollingUpdateDaemonSet) {
		if r.MaxSurge != nil && r.MaxSurge.IntValue() > 0 {
			r.MaxSurge = ptr.To(intstr.FromInt32(r.MaxSurge.IntVal + 1))
		}
	}))
	plant("the old pod goes before the one that surges is available", invariants.Availability, 1, inPlan(endSurge))
	plant("the partition is ignored", invariants.Partition, 18, inRolling(func(r *v1alpha1.RollingUpdateDaemonSet) { r.Partition = nil }))
	plant("the partition is one too small", invariants.Partition, 20, inRolling(func(r *v1alpha1.RollingUpdateDaemonSet) {
		if r.Partition != nil && r.Partition.Type == intstr.Int {
			r.Partition = new(intstr.FromInt32(max(r.Partition.IntVal-1, 0)))
		}
	}))
	plant("a percentage is ignored", invariants.Partition, 18, inRolling(func(r *v1alpha1.RollingUpdateDaemonSet) {
		if r.Partition != nil && r.Partition.Type == intstr.String {
			r.Partition = nil
		}
	}))
	plant("the partition does not hold for pods that come back", invariants.Partition, 22, misreading(func(s *Snapshot) {
		if update := NewPlan(s).Revisions.Update; update != nil {
			s.Set.Status.CurrentRevision = update.Name
		}
	}))
	plant("the selector of the update is ignored", invariants.Partition, 10, inRolling(func(r *v1alpha1.RollingUpdateDaemonSet) { r.Selector = nil }))
	plant("paused is ignored", invariants.Paused, 5, inRolling(func(r *v1alpha1.RollingUpdateDaemonSet) { r.Paused = nil }))
	plant("OnDelete is taken for RollingUpdate", invariants.Needless, 32, inSpec(func(s *v1alpha1.DaemonSetSpec) {
		s.UpdateStrategy.Type = v1alpha1.RollingUpdateDaemonSetStrategyType
	}))
	plant("Standard is taken for InPlaceIfPossible", invariants.Needless, 2, inRolling(func(r *v1alpha1.RollingUpdateDaemonSet) {
		r.Type = v1alpha1.InplaceRollingUpdateType
	}))
	plant("taints are not seen", invariants.Placement, 0, misreading(func(s *Snapshot) {
		for _, node := range s.Nodes {
			node.Spec.Taints = nil
		}
	}))
	plant("a node is forgotten", invariants.Placement, 1, misreading(func(s *Snapshot) {
		s.Nodes = slices.DeleteFunc(s.Nodes, func(n *corev1.Node) bool { return n.Name == "n3" })
	}))
	plant("pods stay where they must not", invariants.Placement, 17, inPlan(func(_ *Snapshot, p *Plan) {
		p.Delete = slices.DeleteFunc(p.Delete, func(d rollout.PodDeletion) bool { return d.For == rollout.DeleteForScale })
	}))
	plant("pods that have ended stay", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) {
		p.Delete = slices.DeleteFunc(p.Delete, func(d rollout.PodDeletion) bool { return d.For == rollout.DeleteFailed })
	}))
	plant("a node gets two pods", invariants.Placement, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if len(p.Create) == 1 {
			twin := p.Create[0].Pod.DeepCopy()
			twin.Name += "-2"
			p.Create = append(p.Create, rollout.PodCreation{Pod: twin})
		}
	}))
	plant("pods of others are taken for its own", invariants.Ownership, 0, misreading(func(s *Snapshot) {
		for _, pod := range s.Pods {
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s.Set, daemonKind)}
		}
	}))
	plant("deletions do not name the UID", invariants.Ownership, 0, onWire(simulation.SpoilDeletions("{}")).While(takeNames))
	plant("the status does not wait for a spec that is not reached", invariants.Status, 0, inStatus(func(status *v1alpha1.DaemonSetStatus) { statuses.Reach(status) }))
	plant("consumers wait for pods that the partition holds back", invariants.Status, 12, inPlan(waitBeyondPartition))
	plant("pods are deleted at once", invariants.Identity, 1, onWire(simulation.SpoilDeletions(`{"gracePeriodSeconds":0}`)))
	plant("the preDelete hook is skipped", invariants.Hooks, 8, inSpec(func(s *v1alpha1.DaemonSetSpec) { s.Lifecycle = nil }))
	plant("the current revision moves too early", invariants.Status, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Status != nil && p.Revisions.Update != nil {
			p.Status.CurrentRevision = p.Revisions.Update.Name
		}
	}))
	plant("the current revision is dropped", invariants.History, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if r := &p.Revisions; r.Current != nil && r.Current != r.Update && r.Create == nil {
			r.Delete = append(r.Delete, r.Current)
		}
	}))
	plant("the status counts one too many", invariants.Status, 0, inStatus(func(status *v1alpha1.DaemonSetStatus) { status.NumberAvailable++ }))
	plant("the status is not written", invariants.Settled, 0, bug{Reconciler: func(r Reconciler) {
		controller.KindOf(r).Writer.(*apply.Writer).Merge = func(context.Context, types.NamespacedName, []byte, ...string) (string, error) { return "", nil }
	}})
}

// waitBeyondPartition has consumers wait as if there were no partition.
func waitBeyondPartition(s *Snapshot, p *Plan) {
	misread := *s
	misread.Set = s.Set.DeepCopy()
	if r := misread.Set.Spec.UpdateStrategy.RollingUpdate; r != nil {
		r.Partition = nil
	}
	if other := NewPlan(&misread).Status; p.Status != nil && other != nil {
		p.Status.Conditions = other.Conditions
	}
}

// inSpec plants a bug into how planners read the spec.
func inSpec(spoil func(*v1alpha1.DaemonSetSpec)) bug {
	return misreading(func(s *Snapshot) { spoil(&s.Set.Spec) })
}

func inRolling(spoil func(*v1alpha1.RollingUpdateDaemonSet)) bug {
	return inSpec(func(spec *v1alpha1.DaemonSetSpec) {
		if spec.UpdateStrategy.RollingUpdate != nil {
			spoil(spec.UpdateStrategy.RollingUpdate)
		}
	})
}

// updateUnavailable updates old pods that serve no client, whatever else is.
func updateUnavailable(s *Snapshot, p *Plan) {
	if p.Rollout.MaxUnavailable == 0 {
		return
	}
	planned := slices.Clone(p.Delete)
	for _, pod := range s.Pods {
		gone := slices.ContainsFunc(planned, func(d rollout.PodDeletion) bool { return d.Pod == pod })
		if update := p.Revisions.Update; update != nil && !gone && pod.DeletionTimestamp == nil && metav1.IsControlledBy(pod, s.Set) &&
			!lifecycle.Available(pod, s.Set.Spec.MinReadySeconds, s.Now) && pod.Labels[podplan.RevisionLabel] != update.Name[len(s.Set.Name)+1:] {
			p.Delete = append(p.Delete, rollout.PodDeletion{Pod: pod, For: rollout.DeleteForUpdate})
		}
	}
}

// endSurge deletes the old pods of nodes that have an updated one.
func endSurge(s *Snapshot, p *Plan) {
	for _, pod := range s.Pods {
		beside := slices.ContainsFunc(s.Pods, func(other *corev1.Pod) bool {
			return other.UID != pod.UID && scheduler.NodeOf(other) == scheduler.NodeOf(pod) && other.CreationTimestamp.After(pod.CreationTimestamp.Time)
		})
		if p.Rollout.MaxSurge > 0 && beside && pod.DeletionTimestamp == nil && metav1.IsControlledBy(pod, s.Set) && len(p.Delete) == 0 {
			p.Delete = append(p.Delete, rollout.PodDeletion{Pod: pod, For: rollout.DeleteForUpdate})
		}
	}
}

// forgetDisruptions takes old pods that are not available for such as were never taken out of service.
func forgetDisruptions(s *Snapshot) {
	s.Disrupted = nil
	for i, pod := range s.Pods {
		s.Pods[i] = pod.DeepCopy()
		if c := s.Pods[i].Status.Conditions; !lifecycle.Available(pod, s.Set.Spec.MinReadySeconds, s.Now) {
			for k := range c {
				if c[k].Type == corev1.PodReady {
					c[k].LastTransitionTime = pod.CreationTimestamp
				}
			}
		}
	}
}

// updateInTurn updates pods again and again.
func updateInTurn(u *simulation.User, r *rand.Rand) {
	u.Edit(simulation.AnyEdit(r, simulation.ReadEdits("updateInTurn")))
}

// takeNames updates pods, and puts strangers in the places of those that are to go.
func takeNames(u *simulation.User, r *rand.Rand) {
	if doomed := u.Doomed(); doomed != nil {
		u.TakeName(doomed)
		return
	}
	updateInTurn(u, r)
}
