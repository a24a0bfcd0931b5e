// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
)

// TestSimulationFindsBugs plants bugs into the parts that bring pods back: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return simulated(&b) })
	plant("pods that are not ready are recorded", invariants.Status, 0, inSnapshot(planted.EachPod[Snapshot](func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})))
	plant("what is recorded stays as it was first", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
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
	}))
	plant("states of pods that are scaled away stay", invariants.Status, 0, inSnapshot(func(s *Snapshot) {
		s.State.Spec.PersistentPodStateRetentionPolicy = v1alpha1.WhenDeleted
	}))
	plant("states are dropped though they are to be retained", invariants.Status, 5, inSnapshot(func(s *Snapshot) {
		s.State.Spec.PersistentPodStateRetentionPolicy = v1alpha1.WhenScaled
	}))
	plant("ordinals count from 0", invariants.Status, 19, inSnapshot(func(s *Snapshot) {
		if s.Workload != nil {
			w := *s.Workload
			w.Start = 0
			s.Workload = &w
		}
	}))
	plant("states of a StatefulSet that is gone stay", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
		if s.Workload == nil {
			p.Status = nil
		}
	}))
	plant("labels of nodes are those of once", invariants.Status, 1, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil && p.Status.Pods == s.State.Status.Pods && p.Status.ObservedGeneration == s.State.Status.ObservedGeneration {
			p.Status = nil
		}
	}))
	plant("pods that are lost are not told", invariants.Status, 8, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Status != nil {
			p.Status.Lost = 0
		}
	}))
	plant("the status is written again and again", invariants.Calm, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Record != nil {
			p.Status, p.RequeueAfter = p.Record.Status.DeepCopy(), 1
		}
	}))
	plant("what is new of a node is not recorded", invariants.Status, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Status != nil && len(p.Record.Recorded) > 0 {
			p.Status = nil
		}
	}))
	plant("pods wait for ever", invariants.Settled, 36, inPlan(func(_ *Snapshot, p *Plan) { p.Replace = nil }))
	plant("no look after a while", invariants.Settled, 36, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 }))
	plant("pods are given up at once", invariants.Needless, 36, inPlan(func(_ *Snapshot, p *Plan) {
		for _, wait := range p.Waiting {
			p.Replace = append(p.Replace, podstate.Stuck{Pod: wait.Pod, Reason: wait.Reason.Message})
		}
		p.Waiting = nil
	}))
	plant("pods are given up whatever nodes there are", invariants.Needless, 0, inPlan(func(s *Snapshot, p *Plan) {
		p.Replace = nil
		for _, pod := range s.Pods {
			if pod.Spec.NodeName == "" && p.Record != nil {
				p.Replace = append(p.Replace, podstate.Stuck{Pod: pod})
			}
		}
	}))
	plant("a deletion hits whatever has the name", invariants.Ownership, 36, onWire(simulation.SpoilDeletions(`{}`)))
	plant("a status is written whatever it has become", invariants.Status, 0,
		onWire(simulation.Forgetting(http.MethodPatch, "persistentpodstates", "metadata", "resourceVersion")))
	plant("pods are sent to nodes that are gone", invariants.Placement, 3, bug{place: placeAnyway})
	plant("pods go anywhere", invariants.Placement, 0, misplaced(func(p *podstate.Placement, pod *corev1.Pod) { p.Pod = pod }))
	plant("what a user asks for is overwritten", invariants.Placement, 3, bug{place: func(p *Placer, namespace string, pod *corev1.Pod) (*podstate.Placement, error) {
		free := pod.DeepCopy()
		delete(free.Spec.NodeSelector, simulation.Ring)
		return p.placed(namespace, free)
	}})
	plant("annotations are not given back", invariants.Placement, 1, misplaced(func(p *podstate.Placement, _ *corev1.Pod) {
		delete(p.Pod.Annotations, "ip")
	}))
	plant("preferences are forgotten", invariants.Placement, 13, misplaced(func(p *podstate.Placement, _ *corev1.Pod) {
		p.Pod.Spec.Affinity = nil
	}))
}

// bug is a bug of one of the parts that bring pods back. Its zero value is none.
type bug struct {
	controller spoil
	// place is how a webhook places a pod.
	place func(p *Placer, namespace string, pod *corev1.Pod) (*podstate.Placement, error)
}

type spoil = simulation.Spoil[Options, Reconciler]

// inPlan plants a bug into plans, inSnapshot into what they are made of, and onWire into requests.
func inPlan(change func(*Snapshot, *Plan)) bug {
	return bug{controller: planted.InPlan[Options](change)}
}

func inSnapshot(change func(*Snapshot)) bug {
	return bug{controller: planted.Misread[Options, Snapshot, Plan](func(s *Snapshot) {
		if s.State != nil {
			change(s)
		}
	})}
}

func onWire(wrap func(http.RoundTripper) http.RoundTripper) bug {
	return bug{controller: simulation.OnWire[Options, Reconciler](wrap)}
}

// misplaced plants a bug into what a webhook makes of a pod.
func misplaced(change func(p *podstate.Placement, pod *corev1.Pod)) bug {
	return bug{place: func(p *Placer, namespace string, pod *corev1.Pod) (*podstate.Placement, error) {
		placement, err := p.placed(namespace, pod)
		if err == nil {
			change(placement, pod)
		}
		return placement, err
	}}
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
