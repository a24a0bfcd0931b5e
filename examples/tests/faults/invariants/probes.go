// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// What PodProbeMarkers write to pods: the condition of their one probe, and a label that is "yes" for Succeeded and "no" for Failed.
const (
	ProbedCondition corev1.PodConditionType = "example.com/idle"
	ProbedLabel     string                  = "example.com/idle"
)

// seeProbed takes note of a change, and judges what it is to PodProbeMarkers.
func (j *Judge) seeProbed(c Change, gap bool) []invariants.Violation {
	v := &verdict{gap: gap}
	switch object := c.latest().(type) {
	case *lifecyclev1alpha1.PodProbeMarker:
		j.markers[object.UID] = object
	case *lifecyclev1alpha1.NodePodProbe:
		v.about = "NodePodProbe " + object.Name
		j.judgeNodePodProbe(v, c)
	case *corev1.Pod:
		v.about = "pod " + podstate.Describe(object, c.New == nil)
		j.judgeResult(v, c)
	}
	return v.wrong
}

// judgeNodePodProbe: a node is asked about its own pods, which a marker selects. What its agent reports counts.
func (j *Judge) judgeNodePodProbe(v *verdict, c Change) {
	after, _ := c.New.(*lifecyclev1alpha1.NodePodProbe)
	if after == nil {
		v.expect(false, invariants.Needless, "it is gone, and its node is not")
		return
	}
	j.probed[after.Name] = after
	for uid, states := range reported(after) {
		if j.reports[uid] == nil {
			j.reports[uid] = map[lifecyclev1alpha1.ProbeState]bool{}
		}
		j.reports[uid][states] = true
	}
	asked := map[types.UID]bool{}
	for _, pod := range after.Spec.PodProbes {
		v.expect(!asked[pod.UID] && len(pod.Probes) == len(j.markers), invariants.Identity, "pod %s has %d probes, or stands twice", pod.Name, len(pod.Probes))
		asked[pod.UID] = true
		of := j.injected[pod.UID]
		v.expect(of == nil || of.Name == pod.Name && of.Spec.NodeName == after.Name && j.marked(of), invariants.Placement, "asks about pod %s, which no marker selects there", pod.Name)
	}
}

// reported are the states that an agent reports, by UID of the pod.
func reported(node *lifecyclev1alpha1.NodePodProbe) map[types.UID]lifecyclev1alpha1.ProbeState {
	states := map[types.UID]lifecyclev1alpha1.ProbeState{}
	for _, pod := range node.Status.PodProbeStatuses {
		for _, probe := range pod.ProbeStates {
			states[pod.UID] = probe.State
		}
	}
	return states
}

// marked tells whether the labels of a pod are those that a marker selects.
func (j *Judge) marked(pod *corev1.Pod) bool {
	for _, m := range j.markers {
		selector, err := m.PodSelector()
		if err == nil && selector.Matches(labels.Set(pod.Labels)) && m.Namespace == pod.Namespace {
			return true
		}
	}
	return false
}

// judgeResult: a pod gets the results that the agent of its node has reported of it, the condition and the label in one write.
func (j *Judge) judgeResult(v *verdict, c Change) {
	after, _ := c.New.(*corev1.Pod)
	before, _ := c.Old.(*corev1.Pod)
	if after == nil || before == nil {
		return
	}
	is, was := resultOf(after), resultOf(before)
	if is == was {
		return
	}
	states := j.reports[after.UID]
	v.expect(states[lifecyclev1alpha1.ProbeSucceeded] && is == succeeded || states[lifecyclev1alpha1.ProbeFailed] && is == failed,
		invariants.Partition, "it has the condition %q and the label %q, of the states %v", is.condition, is.label, slices.Collect(maps.Keys(states)))
}

// result is what there is of a state on a pod.
type result struct {
	condition corev1.ConditionStatus
	label     string
}

var succeeded, failed = result{corev1.ConditionTrue, "yes"}, result{corev1.ConditionFalse, "no"}

func resultOf(pod *corev1.Pod) result {
	return result{podstate.Condition(pod, ProbedCondition).Status, pod.Labels[ProbedLabel]}
}

// judgeProbesSettled: every node is asked about the pods that are there and that a marker selects, and these have what was reported
// last.
func (j *Judge) judgeProbesSettled() (wrong []invariants.Violation) {
	j.reports = map[types.UID]map[lifecyclev1alpha1.ProbeState]bool{}
	for _, m := range j.markers {
		selected := int32(0)
		v := &verdict{about: "PodProbeMarker " + m.Name}
		for uid, pod := range j.injected {
			if !j.marked(pod) || !podstate.Active(pod) {
				continue
			}
			selected++
			node := j.probed[pod.Spec.NodeName]
			if node == nil {
				v.expect(false, invariants.Settled, "pod %s is on %s, which is not asked about it", pod.Name, pod.Spec.NodeName)
				continue
			}
			state := reported(node)[uid]
			j.reports[uid] = map[lifecyclev1alpha1.ProbeState]bool{state: true}
			v.expect(asks(node, uid), invariants.Settled, "pod %s is on %s, which is not asked about it", pod.Name, pod.Spec.NodeName)
			v.expect(resultOf(pod) == map[lifecyclev1alpha1.ProbeState]result{lifecyclev1alpha1.ProbeSucceeded: succeeded, lifecyclev1alpha1.ProbeFailed: failed}[state],
				invariants.Settled, "pod %s has %+v, reported is %s", pod.Name, resultOf(pod), state)
		}
		st := &m.Status
		v.expect(st.MatchedPods == int64(selected) && st.ObservedGeneration == m.Generation, invariants.Status, "generation %d, %d pods, status %+v", m.Generation, selected, *st)
		wrong = append(wrong, v.wrong...)
	}
	for _, name := range slices.Sorted(maps.Keys(j.probed)) {
		v := &verdict{about: "NodePodProbe " + name}
		for _, pod := range j.probed[name].Spec.PodProbes {
			there := j.injected[pod.UID]
			v.expect(there != nil && podstate.Active(there), invariants.Settled, "asks about pod %s, which is gone", pod.Name)
		}
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}

func asks(node *lifecyclev1alpha1.NodePodProbe, uid types.UID) bool {
	return slices.ContainsFunc(node.Spec.PodProbes, func(pod lifecyclev1alpha1.PodProbe) bool { return pod.UID == uid })
}

// withoutProbes is a pod without what PodProbeMarkers write to it, which is nothing to workloads.
func withoutProbes(pod *corev1.Pod) *corev1.Pod {
	if resultOf(pod) == (result{}) {
		return pod
	}
	rest := pod.DeepCopy()
	delete(rest.Labels, ProbedLabel)
	rest.Status.Conditions = slices.DeleteFunc(rest.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == ProbedCondition })
	return rest
}
