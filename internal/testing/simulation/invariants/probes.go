// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The annotations by which what runs the pods of virtual nodes knows their probes.
const handedProbes, handedMarkers = "kruise.io/podprobe", "kruise.io/podprobemarker-list"

// probing is all PodProbeMarkers and NodePodProbes at a moment.
type probing struct{ *State }

func (p probing) markers() []*v1alpha1.PodProbeMarker {
	var all []*v1alpha1.PodProbeMarker
	for _, name := range slices.Sorted(maps.Keys(p.Further["podprobemarkers"])) {
		all = append(all, p.Further["podprobemarkers"][name].(*v1alpha1.PodProbeMarker))
	}
	return all
}

func (p probing) node(name string) *v1alpha1.NodePodProbe {
	n, _ := p.Further["nodepodprobes"][name].(*v1alpha1.NodePodProbe)
	return n
}

// selects tells whether a marker has a pod probed. (PPM-2.1)
func (p probing) selects(m *v1alpha1.PodProbeMarker, pod *corev1.Pod) bool {
	initialized := condition(pod, corev1.PodInitialized)
	return m.DeletionTimestamp == nil && active(pod) && pod.Spec.NodeName != "" && initialized != nil && initialized.Status == corev1.ConditionTrue &&
		matches(m.Spec.Selector, pod.Labels)
}

// probes are those of the markers that have a pod probed, in order, each with its name in NodePodProbes.
func (p probing) probes(pod *corev1.Pod) iter.Seq2[string, *v1alpha1.PodContainerProbe] {
	return func(yield func(string, *v1alpha1.PodContainerProbe) bool) {
		for _, m := range p.markers() {
			for of := range each(m.Spec.Probes) {
				if p.selects(m, pod) && !yield(m.Name+"#"+of.Name, of) {
					return
				}
			}
		}
	}
}

// asked are the probes that a node should have, by pod and name, each with what it is. (PPM-3.2)
func (p probing) asked(node string) map[string]string {
	all := map[string]string{}
	for _, pod := range p.Pods {
		if pod.Spec.NodeName != node || p.virtual(node) {
			continue
		}
		for name, of := range p.probes(pod) {
			all[fmt.Sprint(pod.UID, " ", name)] = described(of.ContainerName, &of.Probe)
		}
	}
	return all
}

// virtual tells whether what runs the pods of a node tells the results of probes by conditions: there is no agent. (PPM-3.9)
func (p probing) virtual(node string) bool {
	n := p.Nodes[node]
	return n != nil && n.Labels["type"] == "virtual-kubelet"
}

// told are the states that the conditions of a pod tell, by the name of the probe. Of probes of one type only the first counts. (PPM-3.9)
func (p probing) told(pod *corev1.Pod) map[string]v1alpha1.ProbeState {
	out, seen := map[string]v1alpha1.ProbeState{}, map[string]bool{"": true, string(corev1.PodReady): true}
	for name, of := range p.probes(pod) {
		c := condition(pod, corev1.PodConditionType(of.PodConditionType))
		if seen[of.PodConditionType] || c == nil {
			continue
		}
		seen[of.PodConditionType] = true
		for state, status := range conditionOfState {
			if status == c.Status {
				out[name] = state
			}
		}
	}
	return out
}

// asks are the probes that a NodePodProbe asks for; what stands twice is violated.
func (v *violations) asks(n *v1alpha1.NodePodProbe) map[string]string {
	all := map[string]string{}
	for pod := range each(n.Spec.PodProbes) {
		for of := range each(pod.Probes) {
			key := fmt.Sprint(pod.UID, " ", of.Name)
			_, twice := all[key]
			v.never(twice, Identity, "%s stands twice in NodePodProbe %s", key, n.Name)
			all[key] = described(of.ContainerName, &of.Probe)
		}
	}
	return all
}

func described(container string, probe *corev1.Probe) string {
	text, _ := json.Marshal(probe)
	return container + " " + string(text)
}

// result is what the probes of a pod say about it: a nil value removes a key.
type result struct {
	conditions          map[corev1.PodConditionType]corev1.ConditionStatus
	labels, annotations map[string]*string
}

// conditionOfState is the status of a condition. (PPM-3.4)
var conditionOfState = map[v1alpha1.ProbeState]corev1.ConditionStatus{
	v1alpha1.ProbeSucceeded: corev1.ConditionTrue, v1alpha1.ProbeFailed: corev1.ConditionFalse, v1alpha1.ProbeUnknown: corev1.ConditionUnknown,
}

// result is what should stand on a pod: what is set counts before what is removed. (PPM-3.3 to PPM-3.5)
func (p probing) result(pod *corev1.Pod) result {
	out := result{map[corev1.PodConditionType]corev1.ConditionStatus{}, map[string]*string{}, map[string]*string{}}
	states := p.states(pod)
	for _, sets := range []bool{true, false} {
		for name, of := range p.probes(pod) {
			if state := states[name]; state != "" {
				out.add(of, state, sets)
			}
		}
	}
	return out
}

// add adds what a probe says. Ready is the kubelet's.
func (r *result) add(of *v1alpha1.PodContainerProbe, state v1alpha1.ProbeState, sets bool) {
	if t := corev1.PodConditionType(of.PodConditionType); t != "" && t != corev1.PodReady && r.conditions[t] == "" {
		r.conditions[t] = conditionOfState[state]
	}
	for _, policy := range of.MarkerPolicy {
		switch {
		case state == v1alpha1.ProbeUnknown:
		case sets && policy.State == state:
			setAll(r.labels, policy.Labels)
			setAll(r.annotations, policy.Annotations)
		case !sets && policy.State != state:
			removeAll(r.labels, policy.Labels)
			removeAll(r.annotations, policy.Annotations)
		}
	}
}

func setAll(of map[string]*string, keys map[string]string) {
	for key, value := range keys {
		of[key] = &value
	}
}

func removeAll(of map[string]*string, keys map[string]string) {
	for key := range keys {
		if _, set := of[key]; !set {
			of[key] = nil
		}
	}
}

func (p probing) states(pod *corev1.Pod) map[string]v1alpha1.ProbeState {
	out := map[string]v1alpha1.ProbeState{}
	n := p.node(pod.Spec.NodeName)
	if p.virtual(pod.Spec.NodeName) {
		return p.told(pod)
	}
	if n == nil {
		return out
	}
	for _, s := range n.Status.PodProbeStatuses {
		for _, state := range s.ProbeStates {
			if s.UID == pod.UID {
				out[state.Name] = state.State
			}
		}
	}
	return out
}

// missing says what of a result does not stand on a pod; empty for nothing.
func (r *result) missing(pod *corev1.Pod) string {
	var out []string
	for t, status := range r.conditions {
		if c := condition(pod, t); c == nil || c.Status != status {
			out = append(out, fmt.Sprint("condition ", t, "=", status))
		}
	}
	for _, keys := range []struct {
		want map[string]*string
		have map[string]string
	}{{r.labels, pod.Labels}, {r.annotations, pod.Annotations}} {
		for key, value := range keys.want {
			have, found := keys.have[key]
			if value == nil && found || value != nil && have != *value {
				out = append(out, key)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// checkPatch judges a write to a pod: it writes all results and nothing else, in one request. (PPM-3.3)
func (p probing) checkPatch(v *violations, w *Write) {
	before, after := w.pods()
	if w.Verb != "patch" || w.Subresource != "status" || before == nil || after == nil {
		v.add(Spec, "%s of pods/%s %s", w.Verb, w.Subresource, w.name())
		return
	}
	observed := p.Pods[before.Name]
	if observed == nil || observed.UID != before.UID || w.Asked != nil && w.Asked.UID != string(before.UID) {
		v.add(Ownership, "pod %s is written whichever it is", before.Name)
		return
	}
	want := p.result(observed)
	if missing := want.missing(after); missing != "" && before.ResourceVersion == observed.ResourceVersion {
		v.add(Status, "pod %s is written, and lacks %s", before.Name, missing)
	}
	checkKeys(v, before.Name, want.labels, before.Labels, after.Labels)
	checkKeys(v, before.Name, want.annotations, before.Annotations, after.Annotations)
	for _, c := range after.Status.Conditions {
		if was := condition(before, c.Type); (was == nil || *was != c) && want.conditions[c.Type] != c.Status {
			v.add(Status, "condition %s of pod %s is %s, and should be %q", c.Type, before.Name, c.Status, want.conditions[c.Type])
		}
	}
	v.never(!equality.Semantic.DeepEqual(&before.Spec, &after.Spec) || !slices.Equal(before.Finalizers, after.Finalizers) ||
		len(after.Status.Conditions) < len(before.Status.Conditions), Spec, "more is written to pod %s than results", before.Name)
}

func checkKeys(v *violations, pod string, want map[string]*string, before, after map[string]string) {
	for _, key := range changed(before, after) {
		is, has := after[key]
		value, decided := want[key]
		v.never(!decided || (value != nil) != has || has && *value != is, Status, "%s of pod %s becomes %q, which no result says", key, pod, is)
	}
}

// PodProbes judges a write of the controllers of PodProbeMarkers and NodePodProbes.
func PodProbes(w *Write) []Violation {
	var v violations
	p := probing{w.asSeen()}
	switch w.Resource {
	case "pods":
		p.checkPatch(&v, w)
	case "nodepodprobes":
		p.checkNodePodProbe(&v, w)
	case "podprobemarkers":
		p.checkMarker(&v, w)
	default:
		v.add(Spec, "%s of %s/%s is none of its business", w.Verb, w.Resource, w.Subresource)
	}
	return v
}

// checkNodePodProbe judges a write of a NodePodProbe. (PPM-3.1, PPM-3.2)
func (p probing) checkNodePodProbe(v *violations, w *Write) {
	node := p.Nodes[w.name()]
	v.never(w.Verb == "create" && p.virtual(w.name()), Needless, "virtual node %s gets a NodePodProbe", w.name())
	if w.Verb == "delete" {
		v.never(node != nil, Needless, "NodePodProbe %s is deleted, whose node is there", w.name())
		v.never(w.Asked != nil && w.Asked.UID == "", Ownership, "NodePodProbe %s is deleted whichever it is", w.name())
		return
	}
	after, _ := w.After.(*v1alpha1.NodePodProbe)
	if v.wrong(after == nil || w.Subresource != "" || node == nil, Spec, "%s of nodepodprobes/%s %s", w.Verb, w.Subresource, w.name()) {
		return
	}
	got, want := v.asks(after), p.asked(node.Name)
	v.never(!maps.Equal(got, want), Placement, "NodePodProbe %s asks for %v, and should for %v", node.Name, got, want)
}

// checkMarker judges a write of a marker. (PPM-2.2 to PPM-2.4)
func (p probing) checkMarker(v *violations, w *Write) {
	m, _ := p.Further["podprobemarkers"][w.name()].(*v1alpha1.PodProbeMarker)
	if v.wrong(m == nil || w.Before == nil || w.Before.GetUID() != m.UID, Ownership, "marker %s is written whichever it is", w.name()) {
		return
	}
	after, _ := w.After.(*v1alpha1.PodProbeMarker)
	if w.Subresource == "status" && after != nil {
		matched, generation := p.matched(m), m.Generation
		if m.DeletionTimestamp != nil { // both stay
			matched, generation = m.Status.MatchedPods, m.Status.ObservedGeneration
		}
		v.never(after.Status.MatchedPods != matched || after.Status.ObservedGeneration != generation, Status,
			"marker %s says %+v, and should %d pods in generation %d", m.Name, after.Status, matched, generation)
		return
	}
	if after != nil && slices.Contains(after.Finalizers, v1alpha1.PodProbeMarkerFinalizer) {
		return
	}
	v.never(m.DeletionTimestamp == nil, Ownership, "marker %s loses its finalizer", m.Name)
	for name := range p.Further["nodepodprobes"] {
		n := p.node(name)
		v.never(n.DeletionTimestamp == nil && p.has(n, m), Ownership, "marker %s goes, and node %s has probes of it", m.Name, name)
	}
}

func (p probing) has(n *v1alpha1.NodePodProbe, m *v1alpha1.PodProbeMarker) bool {
	return slices.ContainsFunc(n.Spec.PodProbes, func(pod v1alpha1.PodProbe) bool {
		return pod.Namespace == m.Namespace && slices.ContainsFunc(pod.Probes, func(c v1alpha1.ContainerProbe) bool { return strings.HasPrefix(c.Name, m.Name+"#") })
	})
}

func (p probing) matched(m *v1alpha1.PodProbeMarker) int64 {
	return int64(len(among(maps.Values(p.Pods), func(pod *corev1.Pod) bool { return p.selects(m, pod) })))
}

// PodProbesSettled judges what there is when nothing more happens. Every node has the probes of its pods, every pod has the results
// that are reported of it, and no marker waits for its end.
func PodProbesSettled(s *State, pushed bool) []Violation {
	var v violations
	if len(s.Refused) > 0 && !pushed {
		return nil
	}
	p := probing{s}
	for name := range s.Nodes {
		n := p.node(name)
		if n == nil && p.virtual(name) {
			continue
		}
		if v.wrong(n == nil, Settled, "node %s has no NodePodProbe", name) {
			continue
		}
		got, want := v.asks(n), p.asked(name)
		v.never(!maps.Equal(got, want), Settled, "NodePodProbe %s asks for %v, and should for %v", name, got, want)
	}
	for name := range s.Further["nodepodprobes"] {
		v.never(s.Nodes[name] == nil, Settled, "there is a NodePodProbe of node %s, which is gone", name)
	}
	for _, pod := range s.Pods {
		want := p.result(pod)
		missing := want.missing(pod)
		v.never(missing != "", Settled, "pod %s lacks %s", pod.Name, missing)
	}
	for _, m := range p.markers() {
		ours := slices.Contains(m.Finalizers, v1alpha1.PodProbeMarkerFinalizer)
		v.never(m.DeletionTimestamp != nil && ours || m.DeletionTimestamp == nil && (!ours || m.Status.MatchedPods != p.matched(m)), Settled,
			"marker %s: finalizers %v, %d pods matched and %d selected", m.Name, m.Finalizers, m.Status.MatchedPods, p.matched(m))
	}
	return v
}
