// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planPods writes the results that the agent has reported to the pods that they are about. (PPM-3.3)
func (p *planner) planPods() {
	left := maps.Clone(p.room.leftOut)
	for i := range p.NodePodProbe.Status.PodProbeStatuses {
		status := &p.NodePodProbe.Status.PodProbeStatuses[i]
		pod := p.byName[nameOfStatus(status)]
		delete(left, status.UID)
		if pod == nil || pod.UID != status.UID || !podstate.Active(pod) {
			continue
		}
		p.planPod(pod, p.wanted[pod.UID], status)
	}
	for _, pod := range p.pods {
		if left[pod.UID] != nil { // there is no report on it
			p.planPod(pod, p.wanted[pod.UID], &v1alpha1.PodProbeStatus{})
		}
	}
	slices.SortFunc(p.plan.Patches, func(a, b PodPatch) int { return strings.Compare(nameOf(a.Pod).String(), nameOf(b.Pod).String()) })
}

// planPod plans what the results of the probes that a pod should have change about it.
func (p *planner) planPod(pod *corev1.Pod, all []*wanted, status *v1alpha1.PodProbeStatus) {
	r := &results{planner: p, patch: PodPatch{Pod: pod}}
	for _, w := range all {
		state := p.stateFor(pod, status, w)
		if state == nil {
			continue
		}
		if !p.serverless { // there the condition is the report
			r.condition(w, state)
		}
		r.removals(w, state.State)
		r.policies(w, state.State)
	}
	if !r.patch.Changes(pod) {
		return
	}
	var said []string
	for _, w := range all {
		if state := p.stateFor(pod, status, w); state != nil {
			said = append(said, fmt.Sprintf("%s@%s/%d=%s", w.probe.Name, w.marker.UID, w.marker.Generation, state.State))
		}
	}
	r.patch.Results = strings.Join(said, " ")
	if wrote, found := p.Wrote[pod.UID]; found && wrote.Results == r.patch.Results && p.Now.Before(wrote.At.Add(againAfter)) {
		p.ignore(pod, "", "they were written less than %v ago: what alone says it in other words, or another client has changed, is written then", againAfter)
		p.requeueAt(wrote.At.Add(againAfter))
		return
	}
	p.plan.Patches = append(p.plan.Patches, r.patch)
}

// stateFor is the state of a probe that a pod should have; nil if nothing is known of it.
func (p *planner) stateFor(pod *corev1.Pod, status *v1alpha1.PodProbeStatus, w *wanted) *v1alpha1.ContainerProbeState {
	if why := p.room.leftOut[pod.UID][w.probe.Name]; why != "" {
		return &v1alpha1.ContainerProbeState{Name: w.probe.Name, State: v1alpha1.ProbeUnknown, Message: "the probe is left out: " + why}
	}
	if state := stateOf(status, w.probe.Name); state != nil && state.State != "" {
		return state
	}
	return nil
}

func stateOf(status *v1alpha1.PodProbeStatus, name string) *v1alpha1.ContainerProbeState {
	for i := range status.ProbeStates {
		if status.ProbeStates[i].Name == name {
			return &status.ProbeStates[i]
		}
	}
	return nil
}

// results collects what the results of one pod change about it.
type results struct {
	*planner
	patch PodPatch
	types map[string]string // the probe whose condition it is, by type
}

// condition sets the condition of a result. One that has its status and message already is not written. (PPM-3.4)
func (r *results) condition(w *wanted, state *v1alpha1.ContainerProbeState) {
	conditionType := w.of.PodConditionType
	switch first, taken := r.types[conditionType]; {
	case conditionType == "":
		return
	case v1alpha1.TakenCondition(conditionType):
		r.ignore(r.patch.Pod, w.probe.Name, "the condition %s is written by Kubernetes or podwright", conditionType)
		return
	case taken:
		r.ignore(r.patch.Pod, w.probe.Name, "the condition %s is that of the probe %s", conditionType, first)
		return
	}
	if r.types == nil {
		r.types = map[string]string{}
	}
	r.types[conditionType] = w.probe.Name
	c := corev1.PodCondition{
		Type: corev1.PodConditionType(conditionType), Status: conditionStatus(state.State), Message: state.Message,
		LastProbeTime:      ptr.Deref(state.LastProbeTime, metav1.Time{}),
		LastTransitionTime: ptr.Deref(state.LastTransitionTime, metav1.Time{Time: r.Now}),
	}
	if has := readiness.Condition(r.patch.Pod, c.Type); has != nil && has.Status == c.Status {
		if has.Message == c.Message {
			return
		}
		c.LastTransitionTime = has.LastTransitionTime
	}
	r.patch.SetCondition(c)
}

// conditionStatus is the status of a condition that tells a state. What is not known is not False: False would say that the
// probe has failed. A gate holds a pod back for either. (PPM-3.4)
func conditionStatus(state v1alpha1.ProbeState) corev1.ConditionStatus {
	switch state {
	case v1alpha1.ProbeSucceeded:
		return corev1.ConditionTrue
	case v1alpha1.ProbeFailed:
		return corev1.ConditionFalse
	}
	return corev1.ConditionUnknown
}

// removals removes what the policies of other states have set, unless another probe sets it. What is not known takes
// nothing away: a hook that holds a pod goes on to hold it. (PPM-3.5)
func (r *results) removals(w *wanted, state v1alpha1.ProbeState) {
	if state != v1alpha1.ProbeSucceeded && state != v1alpha1.ProbeFailed {
		return
	}
	for i := range w.of.MarkerPolicy {
		policy := &w.of.MarkerPolicy[i]
		if policy.State == state {
			continue
		}
		remove(&r.patch.Labels, policy.Labels)
		remove(&r.patch.Annotations, policy.Annotations)
	}
}

// policies sets what the policy of a state says. (PPM-3.5)
func (r *results) policies(w *wanted, state v1alpha1.ProbeState) {
	for i := range w.of.MarkerPolicy {
		policy := &w.of.MarkerPolicy[i]
		if policy.State != state {
			continue
		}
		for key, value := range policy.Labels {
			r.patch.SetLabel(key, value)
		}
		for key, value := range policy.Annotations {
			r.patch.SetAnnotation(key, value)
		}
	}
}

// remove has a patch remove keys that nothing has set.
func remove(from *map[string]*string, keys map[string]string) {
	for key := range keys {
		if _, decided := (*from)[key]; decided {
			continue
		}
		if *from == nil {
			*from = map[string]*string{}
		}
		(*from)[key] = nil
	}
}
