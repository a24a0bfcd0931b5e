// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestSimulationFindsBugs plants bugs into the parts that bring pods back: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	var bugs []simulation.Bug
	for _, b := range []struct {
		name   string
		breaks invariants.Invariant
		seed   uint64
		bug    bug
	}{
		{"pods that are not ready are recorded", invariants.Status, 0, inSnapshot(func(s *Snapshot) {
			onPods(s, func(pod *corev1.Pod) {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			})
		})},
		{"what is recorded stays as it was first", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
			if p.Status == nil {
				return
			}
			for name, state := range s.State.Status.PodStates {
				if _, found := p.Status.PodStates[name]; found {
					p.Status.PodStates[name] = state
				}
			}
			if podstate.Equal(p.Status, &s.State.Status) {
				p.Status = nil
			}
		})},
		{"states of pods that are scaled away stay", invariants.Status, 0, inSnapshot(func(s *Snapshot) {
			s.State.Spec.PersistentPodStateRetentionPolicy = v1alpha1.WhenDeleted
		})},
		{"states are dropped though they are to be retained", invariants.Status, 5, inSnapshot(func(s *Snapshot) {
			s.State.Spec.PersistentPodStateRetentionPolicy = v1alpha1.WhenScaled
		})},
		{"ordinals count from 0", invariants.Status, 19, inSnapshot(func(s *Snapshot) {
			if s.Workload != nil {
				w := *s.Workload
				w.Start = 0
				s.Workload = &w
			}
		})},
		{"states of a StatefulSet that is gone stay", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
			if s.Workload == nil {
				p.Status = nil
			}
		})},
		{"labels of nodes are those of once", invariants.Status, 1, inPlan(func(s *Snapshot, p *Plan) {
			if p.Status != nil && p.Status.Pods == s.State.Status.Pods && p.Status.ObservedGeneration == s.State.Status.ObservedGeneration {
				p.Status = nil
			}
		})},
		{"pods that are lost are not told", invariants.Status, 8, inPlan(func(_ *Snapshot, p *Plan) {
			if p.Status != nil {
				p.Status.Lost = 0
			}
		})},
		{"the status is written again and again", invariants.Calm, 0, inPlan(func(_ *Snapshot, p *Plan) {
			if p.Record != nil {
				p.Status, p.RequeueAfter = p.Record.Status.DeepCopy(), 1
			}
		})},
		{"what is new of a node is not recorded", invariants.Status, 0, inPlan(func(_ *Snapshot, p *Plan) {
			if p.Status != nil && len(p.Record.Recorded) > 0 {
				p.Status = nil
			}
		})},
		{"pods wait for ever", invariants.Settled, 36, inPlan(func(_ *Snapshot, p *Plan) { p.Replace = nil })},
		{"no look after a while", invariants.Settled, 36, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 })},
		{"pods are given up at once", invariants.Needless, 36, inPlan(func(_ *Snapshot, p *Plan) {
			for _, wait := range p.Waiting {
				p.Replace = append(p.Replace, podstate.Stuck{Pod: wait.Pod, Reason: wait.Reason.Message})
			}
			p.Waiting = nil
		})},
		{"pods are given up whatever nodes there are", invariants.Needless, 0, inPlan(func(s *Snapshot, p *Plan) {
			p.Replace = nil
			for _, pod := range s.Pods {
				if pod.Spec.NodeName == "" && p.Record != nil {
					p.Replace = append(p.Replace, podstate.Stuck{Pod: pod})
				}
			}
		})},
		{"a deletion hits whatever has the name", invariants.Ownership, 36, bug{controller: spoil{Config: func(c *rest.Config) { c.Wrap(simulation.SpoilDeletions(`{}`)) }}}},
		{"a status is written whatever it has become", invariants.Status, 0, bug{controller: spoil{Config: func(c *rest.Config) {
			c.Wrap(simulation.SpoilBodies(http.MethodPatch, "persistentpodstates", simulation.Forget("metadata", "resourceVersion")))
		}}}},
		{"pods are sent to nodes that are gone", invariants.Placement, 3, bug{place: placeAnyway}},
		{"pods go anywhere", invariants.Placement, 0, bug{place: func(_ *Placer, _ string, pod *corev1.Pod) (*podstate.Placement, error) {
			return podstate.Place(nil, pod, nil), nil
		}}},
		{"what a user asks for is overwritten", invariants.Placement, 3, bug{place: func(p *Placer, namespace string, pod *corev1.Pod) (*podstate.Placement, error) {
			free := pod.DeepCopy()
			delete(free.Spec.NodeSelector, simulation.Ring)
			return p.placed(namespace, free)
		}}},
		{"annotations are not given back", invariants.Placement, 1, bug{place: func(p *Placer, namespace string, pod *corev1.Pod) (*podstate.Placement, error) {
			placement, err := p.placed(namespace, pod)
			if err == nil {
				delete(placement.Pod.Annotations, "ip")
			}
			return placement, err
		}}},
		{"preferences are forgotten", invariants.Placement, 13, bug{place: func(p *Placer, namespace string, pod *corev1.Pod) (*podstate.Placement, error) {
			placement, err := p.placed(namespace, pod)
			if err == nil && placement.Pod.Spec.Affinity != nil {
				placement.Pod.Spec.Affinity = nil
			}
			return placement, err
		}}},
	} {
		bugs = append(bugs, simulation.Bug{Name: b.name, Breaks: b.breaks, First: b.seed, Workload: simulated(&b.bug)})
	}
	simulation.FindBugs(t, bugs)
}

// bug is a bug of one of the parts that bring pods back. Its zero value is none.
type bug struct {
	controller spoil
	// place is how a webhook places a pod.
	place func(p *Placer, namespace string, pod *corev1.Pod) (*podstate.Placement, error)
}

type spoil = simulation.Spoil[Options, Reconciler]

// inPlan plants a bug into plans, inSnapshot into what they are made of.
func inPlan(change func(*Snapshot, *Plan)) bug {
	return bug{controller: spoil{Reconciler: func(r Reconciler) { controller.KindOf(r).Plan = simulation.Spoiled(NewPlan, change) }}}
}

func inSnapshot(change func(*Snapshot)) bug {
	return bug{controller: spoil{Reconciler: func(r Reconciler) {
		controller.KindOf(r).Plan = func(s *Snapshot) *Plan {
			misread := *s
			if s.State != nil {
				misread.State = s.State.DeepCopy()
				change(&misread)
			}
			return NewPlan(&misread)
		}
	}}}
}

// onPods changes copies of the pods of a snapshot.
func onPods(s *Snapshot, change func(*corev1.Pod)) {
	s.Pods = slices.Clone(s.Pods)
	for i, pod := range s.Pods {
		s.Pods[i] = pod.DeepCopy()
		change(s.Pods[i])
	}
}

// placeAnyway requires what is recorded whether a node has it or not.
func placeAnyway(p *Placer, namespace string, pod *corev1.Pod) (*podstate.Placement, error) {
	placement, err := p.placed(namespace, pod)
	state, found, _ := p.reader[resourceStates].GetByKey(namespace + "/web")
	if err != nil || !found {
		return placement, err
	}
	record := state.(*v1alpha1.PersistentPodState).Status.PodStates[pod.Name]
	if ring := record.NodeTopologyLabels[simulation.Ring]; ring != "" && placement.Pod.Spec.NodeSelector[simulation.Ring] == "" {
		placement.Pod = placement.Pod.DeepCopy()
		placement.Pod.Spec.NodeSelector = map[string]string{simulation.Ring: ring}
	}
	return placement, nil
}
