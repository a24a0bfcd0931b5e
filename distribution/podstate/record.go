// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// Input is everything that a record depends on. Nothing of it is changed.
type Input struct {
	// State is the PersistentPodState, with the states recorded so far. Required.
	State *v1alpha1.PersistentPodState
	// Workload is the one that it names; nil if there is none.
	Workload *Workload
	// Pods are the pods that the workload controls, in any order.
	Pods []*corev1.Pod
	// Nodes are all nodes. Required.
	Nodes *Nodes
	// Now is the time.
	Now time.Time
}

// Record tells on which nodes the pods of a workload ran.
type Record struct {
	// Status is the status as it should be.
	Status v1alpha1.PersistentPodStateStatus
	// Recorded are pods whose state is new or another, and Dropped those whose state is not kept
	// any more, by name.
	Recorded, Dropped []string
	// Lost are pods that ran in a required topology that no node is in any more, by name. (PPS-17)
	Lost []string
	// Refused are pods whose state is not kept since it does not fit, by name. (PPS-10)
	Refused []string
	// UnknownNodes are ready pods whose node is not known, by name: their state does not change. (PPS-5)
	UnknownNodes []string
}

// Compute says on which nodes the pods of a workload ran when they were last seen ready. Of a workload that is missing, being
// deleted or another one of the name nothing is kept. (PPS-7)
func Compute(in Input) *Record {
	r := &Record{Status: v1alpha1.PersistentPodStateStatus{ObservedGeneration: in.State.Generation}}
	before := in.State.Status.PodStates
	states := make(map[string]v1alpha1.PodState, len(in.Pods))
	if in.Workload != nil && !in.Workload.Deleting {
		if !ofAnother(&in.State.Status, in.Workload.UID) {
			maps.Copy(states, before)
		}
		in.record(states, r)
		in.retain(states)
	}
	r.Refused = limit(in.State, states)
	for name, state := range states {
		if old, found := before[name]; !found || !same(old, state) {
			r.Recorded = append(r.Recorded, name)
		}
	}
	for name := range before {
		if _, found := states[name]; !found {
			r.Dropped = append(r.Dropped, name)
		}
	}
	slices.Sort(r.Recorded)
	slices.Sort(r.Dropped)
	in.lose(states, r)
	if len(states) > 0 {
		r.Status.PodStates, r.Status.WorkloadUID = states, in.Workload.UID
	}
	r.Status.Pods, r.Status.Lost = int32(len(states)), int32(len(r.Lost))
	in.conditions(r)
	return r
}

// ofAnother tells whether states are those of another workload than the one of the UID. (PPS-7)
func ofAnother(status *v1alpha1.PersistentPodStateStatus, uid types.UID) bool {
	return status.WorkloadUID != "" && status.WorkloadUID != uid
}

// record writes down on which nodes ready pods run. (PPS-4 to PPS-6)
func (in *Input) record(states map[string]v1alpha1.PodState, r *Record) {
	keys, annotations := topologyKeys(in.State), annotationKeys(in.State)
	for _, pod := range in.Pods {
		if !podstate.Active(pod) || pod.Spec.NodeName == "" || !ready(pod) {
			continue
		}
		labels, found := in.Nodes.labels(pod.Spec.NodeName)
		if !found {
			r.UnknownNodes = append(r.UnknownNodes, pod.Name)
			continue
		}
		states[pod.Name] = v1alpha1.PodState{
			NodeName: pod.Spec.NodeName, NodeTopologyLabels: podstate.Pick(labels, keys...), Annotations: podstate.Pick(pod.Annotations, annotations...),
		}
	}
	slices.Sort(r.UnknownNodes)
}

func ready(pod *corev1.Pod) bool {
	c := readiness.Condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// retain drops the state of pods that the workload was scaled down by. (PPS-8)
func (in *Input) retain(states map[string]v1alpha1.PodState) {
	if in.State.Spec.PersistentPodStateRetentionPolicy == v1alpha1.WhenDeleted || in.Workload.Replicas == nil {
		return
	}
	there := make(map[string]bool, len(in.Pods))
	for _, pod := range in.Pods {
		if podstate.Active(pod) {
			there[pod.Name] = true
		}
	}
	ordinals := in.Workload.ordinals()
	maps.DeleteFunc(states, func(name string, _ v1alpha1.PodState) bool { return !there[name] && !ordinals.keeps(name) })
}

// lose finds the states whose required topology no node is in. (PPS-17)
func (in *Input) lose(states map[string]v1alpha1.PodState, r *Record) {
	keys := requiredKeys(in.State)
	for name, state := range states {
		if required := podstate.Pick(state.NodeTopologyLabels, keys...); len(required) > 0 && !in.Nodes.any(state.NodeName, required, nil) {
			r.Lost = append(r.Lost, name)
		}
	}
	slices.Sort(r.Lost)
}

// conditions says in words what is lost, what does not fit and what of the spec is not done. (PPS-10, PPS-18, PPS-34)
func (in *Input) conditions(r *Record) {
	r.Status.Conditions = append(r.Status.Conditions, in.State.Status.Conditions...)
	set := func(kind string, holds bool, reason, message string) {
		c := metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message,
			ObservedGeneration: in.State.Generation, LastTransitionTime: metav1.NewTime(in.Now),
		}
		if holds {
			c.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&r.Status.Conditions, c)
	}
	if len(r.Lost) > 0 {
		set(v1alpha1.TopologyLostCondition, true, v1alpha1.NodesGoneReason, fmt.Sprintf(
			"no node has the required topology of %s: what is created again is placed elsewhere", some(r.Lost)))
	} else {
		set(v1alpha1.TopologyLostCondition, false, v1alpha1.NodesExistReason, "")
	}
	if len(r.Refused) > 0 {
		set(v1alpha1.StateTooLargeCondition, true, v1alpha1.TooManyPodsReason, fmt.Sprintf(
			"the state of all pods would exceed %d bytes: that of %s is not kept, and they are placed anywhere. "+
				"Ask for fewer topology keys or annotations, or spread the pods over several workloads", MaxSize, some(r.Refused)))
	} else {
		set(v1alpha1.StateTooLargeCondition, false, v1alpha1.StateFitsReason, "")
	}
	if bad := unworkable(&in.State.Spec); len(bad) > 0 { // stored before they were refused
		set(v1alpha1.PersistentPodStateHeldUp, true, v1alpha1.BadValueReason, fmt.Sprintf("%s is %v: the preference is left out, a weight is from 1 to 100", bad[0].Field, bad[0].BadValue))
	} else {
		meta.RemoveStatusCondition(&r.Status.Conditions, v1alpha1.PersistentPodStateHeldUp)
	}
}

// mostNames is how many pods a message names.
const mostNames = 3

// some names pods, the first of them only if they are many.
func some(names []string) string {
	switch {
	case len(names) == 1:
		return "pod " + names[0]
	case len(names) <= mostNames:
		return "pods " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d pods (%s, …)", len(names), strings.Join(names[:mostNames], ", "))
}

// Equal tells whether two statuses say the same, so that the one need not be written over the other. (PPS-9)
func Equal(a, b *v1alpha1.PersistentPodStateStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration && a.Pods == b.Pods && a.Lost == b.Lost && a.WorkloadUID == b.WorkloadUID &&
		maps.EqualFunc(a.PodStates, b.PodStates, same) && equality.Semantic.DeepEqual(a.Conditions, b.Conditions)
}

func same(a, b v1alpha1.PodState) bool {
	return a.NodeName == b.NodeName && maps.Equal(a.NodeTopologyLabels, b.NodeTopologyLabels) && maps.Equal(a.Annotations, b.Annotations)
}
