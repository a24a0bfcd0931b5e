// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestAdaptiveSimulation is TestSimulation with the option AdaptiveScheduling, on nodes that come, go and take no pods. Users give
// limits and schedule strategies. In the end there are nodes for all, and nothing is left of what was moved.
func TestAdaptiveSimulation(t *testing.T) {
	simulation.Check(t, adaptiveSimulated(&bug{}))
}

// TestAdaptiveSimulationFindsBugs plants bugs that show with the option alone.
func TestAdaptiveSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return adaptiveSimulated(&b) })
	plant("the option is forgotten", invariants.Placement, 0, misreading(func(s *Snapshot) { s.Features.AdaptiveScheduling = false }))
	plant("minima are forgotten", invariants.Placement, 0, misreading(func(s *Snapshot) {
		for i := range s.Set.Spec.Topology.Subsets {
			s.Set.Spec.Topology.Subsets[i].MinReplicas = nil
		}
	}))
	plant("maxima are forgotten", invariants.Placement, 0, misreading(func(s *Snapshot) {
		for i := range s.Set.Spec.Topology.Subsets {
			s.Set.Spec.Topology.Subsets[i].MaxReplicas = nil
		}
	}))
	plant("others run one pod too few", invariants.Placement, 2, inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.Subsets {
			if p.Subsets[i].Reserved > 0 && p.Status != nil {
				p.Status.ReservedPods++
			}
		}
	}))
	plant("subsets stay closed", invariants.Settled, 0, misreading(func(s *Snapshot) {
		for i := range s.Set.Status.SubsetStatuses {
			for j := range s.Set.Status.SubsetStatuses[i].Conditions {
				s.Set.Status.SubsetStatuses[i].Conditions[j].LastTransitionTime = metav1.NewTime(s.Now)
			}
		}
	}))
	plant("pods that are not reserved get no label", invariants.Settled, 13, inPlan(func(_ *Snapshot, p *Plan) { p.Unreserve = nil }))
	plant("pods get a label that none asks for", invariants.Placement, 1, inPlan(func(s *Snapshot, p *Plan) { p.LabelAll, p.Unreserve = true, s.Pods }))
	plant("an update is told to be over when it begins", invariants.Status, 1, inStatus(func(status *v1alpha1.UnitedDeploymentStatus) {
		for i := range status.Conditions {
			if c := &status.Conditions[i]; c.Type == v1alpha1.UnitedDeploymentUpdated {
				c.Status = corev1.ConditionTrue
			}
		}
	}))
	plant("subsets that are gone stay in the status", invariants.Status, 1, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil && len(s.Set.Status.SubsetStatuses) > len(p.Status.SubsetStatuses) {
			p.Status.SubsetStatuses = s.Set.Status.SubsetStatuses
		}
	}))
	plant("pods that are ready are marked as reserved", invariants.Placement, 0, inPlan(func(s *Snapshot, p *Plan) {
		for _, pod := range s.Pods {
			if pod.Labels[v1alpha1.ReservedPodLabel] == "" && pod.DeletionTimestamp == nil {
				p.Reserve = []*corev1.Pod{pod}
			}
		}
	}))
}

// adaptiveSimulated is simulated with the option.
func adaptiveSimulated(bug *bug) *simulation.Subject {
	w := simulated(bug)
	w.Nodes, w.Reports, w.Patience = 2, true, 10*time.Minute // less than a subset is closed, which is tried again then
	w.Create = func(r *rand.Rand) simulation.Object {
		set := anySet(r)
		set.Spec.Topology = v1alpha1.Topology{} // what is merged into a subset would stay
		simulation.Merge(set, anyAdaptiveTopology(r))
		return set
	}
	w.Start = func(p *simulation.Process) (simulation.Controller, error) {
		return startSimulated(p, bug, func(p *simulation.Process) (Options, error) {
			o, err := simulatedOptions(p)
			o.Features.AdaptiveScheduling = true
			return o, err
		})
	}
	w.Act = bug.Act(func(u *simulation.User, r *rand.Rand) {
		if r.IntN(3) == 0 {
			u.Edit(anyAdaptiveTopology(r))
			return
		}
		act(u, r)
	})
	w.Push = func(u *simulation.User) {
		for _, node := range []string{"n1", "n2"} {
			u.ReadyNode(node, "a")
		}
		u.Edit(specPatch("topology", map[string]any{"subsets": []any{map[string]any{"name": "c", "maxReplicas": 2}, map[string]any{"name": "d"}},
			"scheduleStrategy": map[string]any{"type": "Adaptive", "adaptive": map[string]any{"unschedulableDuration": 60}}}))
		u.Edit(newImage(u.Workload().(*v1alpha1.UnitedDeployment), 9))
	}
	w.Judge = func(seed uint64) simulation.Judge {
		past := &invariants.UnitedPast{AdaptiveScheduling: true, UpdatedCondition: asLater(seed), SubsetStatuses: asLater(seed), ReservedLabels: asLater(seed)}
		return simulation.Judge{Observe: past.Observe, Write: past.Write, Settled: past.Settled}
	}
	return w
}

// anyAdaptiveTopology is up to four subsets with limits, and a schedule strategy.
func anyAdaptiveTopology(r *rand.Rand) string {
	var subsets []any
	for _, name := range []string{"a", "b", "c", "d"} {
		if r.IntN(4) == 0 {
			continue
		}
		s := named(name)
		if r.IntN(4) == 0 {
			s["replicas"] = r.IntN(3)
		} else {
			if r.IntN(3) == 0 {
				s["minReplicas"] = []any{0, 1, 2, "20%", "50%"}[r.IntN(5)]
			}
			if r.IntN(3) == 0 {
				s["maxReplicas"] = []any{2, 3, 5, "50%", "100%"}[r.IntN(5)]
			}
		}
		subsets = append(subsets, s)
	}
	topology := map[string]any{"subsets": subsets, "scheduleStrategy": nil}
	if r.IntN(4) > 0 {
		topology["scheduleStrategy"] = map[string]any{"type": "Adaptive", "adaptive": map[string]any{"rescheduleCriticalSeconds": []any{nil, 0, 5}[r.IntN(3)],
			"unschedulableDuration": []any{900, 3600}[r.IntN(2)], "reserveUnschedulablePods": r.IntN(3) == 0}}
	}
	return specPatch("topology", topology)
}
