// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulationFindsBugs plants bugs into the controller: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return simulated(&b) })
	plant("a subset gets one pod too many", invariants.Placement, 0, inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.Update {
			if p.Update[i].Wanted == nil {
				p.Update[i].Replicas++
			}
		}
	}))
	plant("percentages are of what there is", invariants.Placement, 0, misreading(func(s *Snapshot) {
		if s.Set.Spec.Replicas != nil && s.Set.Status.Replicas > 0 {
			s.Set.Spec.Replicas = &s.Set.Status.Replicas
		}
	}))
	plant("odd pods go to the first subset by name", invariants.Placement, 15, misreading(func(s *Snapshot) {
		slices.SortFunc(s.Set.Spec.Topology.Subsets, func(a, b v1alpha1.Subset) int { return len(b.Patch.String()) - len(a.Patch.String()) })
		for _, d := range s.Deployments { // all workloads have one pod
			d.Spec.Replicas = new(int32(1))
		}
		for _, c := range s.CloneSets {
			c.Spec.Replicas = new(int32(1))
		}
	}))
	plant("partitions are not kept", invariants.Partition, 1, misreading(func(s *Snapshot) { s.Set.Spec.UpdateStrategy.ManualUpdate = nil }))
	plant("workloads of removed subsets stay", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.Delete = nil }))
	plant("workloads are deleted before all new ones are there", invariants.Order, 1, inPlan(func(_ *Snapshot, p *Plan) {
		if len(p.Delete) > 0 {
			p.Create = nil
		}
	}))
	plant("the topology is that of the cache", invariants.Ownership, 47, bug{Reconciler: fromTheCache})
	plant("a deletion hits whatever has the name", invariants.Ownership, 0, onWire(simulation.SpoilDeletions(`{}`)))
	plant("orphans are not adopted", invariants.Identity, 17, misreading(func(s *Snapshot) {
		s.Deployments = slices.DeleteFunc(slices.Clone(s.Deployments), func(d *appsv1.Deployment) bool { return metav1.GetControllerOf(d) == nil })
		s.CloneSets = slices.DeleteFunc(slices.Clone(s.CloneSets), func(c *v1alpha1.CloneSet) bool { return metav1.GetControllerOf(c) == nil })
		s.StatefulSets = slices.DeleteFunc(slices.Clone(s.StatefulSets), func(c *appsv1.StatefulSet) bool { return metav1.GetControllerOf(c) == nil })
	}))
	plant("what the selector lacks is not given up", invariants.Settled, 41, inPlan(func(_ *Snapshot, p *Plan) { p.Release = nil }))
	plant("the tolerations of subsets are forgotten", invariants.Spec, 0, misreading(func(s *Snapshot) {
		for i := range s.Set.Spec.Topology.Subsets {
			s.Set.Spec.Topology.Subsets[i].Tolerations = nil
		}
	}))
	plant("patches of subsets are forgotten", invariants.Spec, 0, misreading(func(s *Snapshot) {
		for i := range s.Set.Spec.Topology.Subsets {
			s.Set.Spec.Topology.Subsets[i].Patch = nil
		}
	}))
	plant("pods that keep a StatefulSet from updating stay", invariants.Settled, 75, inPlan(func(_ *Snapshot, p *Plan) { p.DeletePods = nil }))
	plant("ready pods are deleted to update", invariants.Needless, 1, inPlan(func(s *Snapshot, p *Plan) { p.DeletePods = s.Pods }))
	plant("pods that were ready a moment ago are deleted", invariants.Needless, 1,
		misreading(planted.EachPod[Snapshot](func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil })))
	plant("all pods that are not ready are deleted at once", invariants.Needless, 1, inPlan(func(s *Snapshot, p *Plan) {
		if len(p.DeletePods) > 0 {
			p.DeletePods = slices.DeleteFunc(slices.Clone(s.Pods), func(pod *corev1.Pod) bool {
				return lifecycle.Ready(pod) || pod.Labels[v1alpha1.SubsetRevisionLabel] == p.Status.UpdateStatus.UpdatedRevision
			})
		}
	}))
	plant("revisions that pods have are deleted", invariants.History, 7, misreading(func(s *Snapshot) {
		s.Pods, s.Set.Spec.RevisionHistoryLimit = nil, new(int32)
	}).While(rollOut))
	plant("revisions are kept for ever", invariants.History, 0, inPlan(func(_ *Snapshot, p *Plan) { p.Revisions.Delete = nil }).While(rollOut))
	plant("pods that are being deleted count as updated", invariants.Status, 0,
		misreading(planted.EachPod[Snapshot](func(pod *corev1.Pod) { pod.DeletionTimestamp = nil })))
	plant("currentRevision is never moved", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil && s.Set.Status.CurrentRevision != "" {
			p.Status.CurrentRevision = s.Set.Status.CurrentRevision
		}
	}))
	plant("what is wrong in the spec is not told", invariants.Status, 0, inStatus(func(status *v1alpha1.UnitedDeploymentStatus) { status.Conditions = nil }))
	plant("all fields of a workload are put right", invariants.Spec, 10, onWire(simulation.SpoilBodies(http.MethodPatch, "deployments", func(body map[string]any) {
		if spec, ok := body["spec"].(map[string]any); ok {
			spec["paused"] = false
		}
	})))
}

// bug is a bug of the controller.
type bug = simulation.Spoil[Options, Reconciler]

// inPlan plants a bug into plans, inStatus into what a status says, misreading into what planners see, and onWire into requests.
var (
	inPlan     = planted.InPlan[Options, Snapshot, Plan]
	inStatus   = planted.InStatus[Options, Snapshot, Plan, v1alpha1.UnitedDeploymentStatus]
	misreading = planted.Misread[Options, Snapshot, Plan]
	onWire     = simulation.OnWire[Options, Reconciler]
)

// rollOut pushes image after image, with little history.
func rollOut(u *simulation.User, r *rand.Rand) {
	set := u.Workload().(*v1alpha1.UnitedDeployment)
	u.Edit(`{"spec":{"revisionHistoryLimit":0}}`)
	u.Edit(newImage(set, r.IntN(9)))
}

// fromTheCache has the Reconciler read its UnitedDeployments from the cache.
func fromTheCache(r Reconciler) {
	self := controller.KindOf(r).Self.(*reconciler)
	self.sets = cachedSets{self.sets, self.options.Reader.(readers.Noting).Reader}
}

// cachedSets reads UnitedDeployments from the cache although they are to be read past it.
type cachedSets struct {
	apiwriter.Live
	reader podwright.Reader
}

func (c cachedSets) Read(_ context.Context, namespace, name string) (metav1.Object, error) {
	return caches.Get[*v1alpha1.UnitedDeployment](c.reader, resourceUnitedDeployments, namespace, name)
}
