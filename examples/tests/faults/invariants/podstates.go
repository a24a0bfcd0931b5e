// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// podState is a PersistentPodState of an Advanced StatefulSet, by which pods have to come back to their nodes, which stay.
type podState struct {
	latest *distributionv1alpha1.PersistentPodState
	// pins are the nodes by the pods' names, as they were when all was settled last. A pod stays in pins as long as the
	// StatefulSet wants it. What was not yet recorded then need not be kept.
	pins map[string]string
}

// takePodState takes note of a version of a PersistentPodState.
func (j *Judge) takePodState(object *distributionv1alpha1.PersistentPodState) {
	if j.podStates[object.UID] == nil {
		j.podStates[object.UID] = &podState{pins: map[string]string{}}
	}
	if s := j.podStates[object.UID]; s.latest == nil || s.latest.Generation <= object.Generation {
		s.latest = object
	}
}

// unpin takes note of pods that a spec of a StatefulSet does not want.
func (j *Judge) unpin(set *v1beta1.StatefulSet) {
	for _, s := range j.podStates {
		if s.latest.Spec.TargetReference.Name == set.Name {
			maps.DeleteFunc(s.pins, func(name, _ string) bool { return !wants(set, name) })
		}
	}
}

// wants tells whether a StatefulSet wants a pod of a name.
func wants(set *v1beta1.StatefulSet, name string) bool {
	for ordinal, n := 0, int32(0); n < *set.Spec.Replicas; ordinal++ {
		if slices.Contains(set.Spec.Reserved(), intstr.FromInt32(int32(ordinal))) {
			continue
		}
		if n++; name == fmt.Sprint(set.Name, "-", ordinal) {
			return true
		}
	}
	return false
}

// judgePin: a pod comes back to the node of the one of its name.
func (j *Judge) judgePin(v *verdict, c Change) {
	pod, is := c.New.(*corev1.Pod)
	if !is || pod.Spec.NodeName == "" {
		return
	}
	for _, s := range j.podStates {
		if set, _ := j.ownerOf(pod); set != nil && set.hasOrdinals() && set.name == s.latest.Spec.TargetReference.Name {
			node, pinned := s.pins[pod.Name]
			v.expect(!pinned || node == pod.Spec.NodeName, invariants.Placement, "runs on %s, and was on %s", pod.Spec.NodeName, node)
		}
	}
}

// judgePodStatesSettled: the status names the nodes of the pods.
func (j *Judge) judgePodStatesSettled() (wrong []invariants.Violation) {
	for _, s := range j.podStates {
		v := &verdict{about: "PersistentPodState " + s.latest.Name}
		s.pins = map[string]string{}
		for uid, set := range j.sets {
			if !set.hasOrdinals() || set.name != s.latest.Spec.TargetReference.Name {
				continue
			}
			for name, pod := range j.podsOf(uid) {
				if podstate.InService(pod) {
					s.pins[name] = pod.Spec.NodeName
				}
			}
		}
		recorded := map[string]string{}
		for name, state := range s.latest.Status.PodStates {
			recorded[name] = state.NodeName
		}
		st := &s.latest.Status
		v.expect(maps.Equal(recorded, s.pins) && int(st.Pods) == len(s.pins) && st.Lost == 0 && st.ObservedGeneration == s.latest.Generation, invariants.Status,
			"generation %d, %d pods, %d lost, records %v; the pods are on %v", st.ObservedGeneration, st.Pods, st.Lost, recorded, s.pins)
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}
