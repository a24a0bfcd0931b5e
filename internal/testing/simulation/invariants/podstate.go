// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// remembering is a PersistentPodState and its StatefulSet, of the same name, at a moment.
type remembering struct {
	*v1alpha1.PersistentPodState
	state *State
	set   *appsv1.StatefulSet // nil if there is none
	pods  []*corev1.Pod       // of the StatefulSet
}

func rememberingOf(s *State) *remembering {
	p, _ := s.Workload.(*v1alpha1.PersistentPodState)
	if p == nil {
		return nil
	}
	r := &remembering{PersistentPodState: p, state: s}
	if r.set, _ = s.Beside["statefulsets"].(*appsv1.StatefulSet); r.set == nil {
		return r
	}
	r.pods = among(maps.Values(s.Pods), func(pod *corev1.Pod) bool { return metav1.IsControlledBy(pod, r.set) })
	return r
}

// required are the required keys, and keys all of them.
func (r *remembering) required() []string {
	if r.Spec.RequiredPersistentTopology == nil {
		return nil
	}
	return r.Spec.RequiredPersistentTopology.NodeTopologyKeys
}

func (r *remembering) keys() []string {
	keys := slices.Clone(r.required())
	for _, term := range r.Spec.PreferredPersistentTopology {
		keys = append(keys, term.Preference.NodeTopologyKeys...)
	}
	return keys
}

func withKeys(from map[string]string, keys []string) map[string]string {
	kept := map[string]string{}
	for _, key := range keys {
		if value, found := from[key]; found {
			kept[key] = value
		}
	}
	return kept
}

func (r *remembering) exists(labels map[string]string) bool {
	keys := slices.Collect(maps.Keys(labels))
	return anyOf(maps.Values(r.state.Nodes), func(node *corev1.Node) bool { return maps.Equal(withKeys(node.Labels, keys), labels) })
}

// recorded is what the status should say, given what it says. (PPS-4 to PPS-8)
func (r *remembering) recorded() map[string]v1alpha1.PodState {
	states := map[string]v1alpha1.PodState{}
	if r.set == nil || r.set.DeletionTimestamp != nil {
		return states
	}
	if r.ofThis(r.set.UID) {
		maps.Copy(states, r.Status.PodStates)
	}
	var annotations []string
	for _, a := range r.Spec.PersistentPodAnnotations {
		annotations = append(annotations, a.Key)
	}
	there := map[string]bool{}
	for _, pod := range r.pods {
		c, node := condition(pod, corev1.PodReady), r.state.Nodes[pod.Spec.NodeName]
		if there[pod.Name] = active(pod); !active(pod) || c == nil || c.Status != corev1.ConditionTrue || node == nil {
			continue
		}
		states[pod.Name] = v1alpha1.PodState{NodeName: node.Name, NodeTopologyLabels: withKeys(node.Labels, r.keys()), Annotations: withKeys(pod.Annotations, annotations)}
	}
	if r.Spec.PersistentPodStateRetentionPolicy == v1alpha1.WhenDeleted {
		return states
	}
	start, wants := ptr.Deref(r.set.Spec.Ordinals, appsv1.StatefulSetOrdinals{}).Start, ptr.Deref(r.set.Spec.Replicas, 1)
	maps.DeleteFunc(states, func(name string, _ v1alpha1.PodState) bool {
		_, ordinal, ok := cutOrdinal(name)
		return !there[name] && ok && (ordinal < start || ordinal >= start+wants)
	})
	return states
}

// ofThis tells whether the status is about the workload of that UID, or says of none. (PPS-7)
func (r *remembering) ofThis(uid types.UID) bool {
	return r.Status.WorkloadUID == "" || r.Status.WorkloadUID == uid
}

func sameState(a, b v1alpha1.PodState) bool {
	return a.NodeName == b.NodeName && maps.Equal(a.NodeTopologyLabels, b.NodeTopologyLabels) && maps.Equal(a.Annotations, b.Annotations)
}

// checkStatus judges a status, which says what is recorded and what of it is lost. (PPS-9, PPS-17, PPS-18)
func (r *remembering) checkStatus(v *violations, status *v1alpha1.PersistentPodStateStatus) {
	want := r.recorded()
	v.never(!maps.EqualFunc(status.PodStates, want, sameState), Status,
		"the states are %v, and should be %v", status.PodStates, want)
	if len(want) > 0 && status.WorkloadUID != r.set.UID {
		v.add(Status, "the states are said to be of workload %q, and are of %q", status.WorkloadUID, r.set.UID)
	}
	lost := int32(0)
	for _, s := range status.PodStates {
		labels := withKeys(s.NodeTopologyLabels, r.required())
		count(&lost, len(labels) > 0 && !r.exists(labels))
	}
	v.compare(status, &v1alpha1.PersistentPodStateStatus{Pods: int32(len(want)), Lost: lost})
	v.never(isTrue(status, v1alpha1.TopologyLostCondition) != (lost > 0), Status,
		"TopologyLost is among %v, and %d pods are", toldBy(status), lost)
}

// PersistentPodState judges a write of the controller of a PersistentPodState, which nothing generates.
func PersistentPodState(w *Write) []Violation {
	var v violations
	r := rememberingOf(w.asSeen())
	before, _ := w.pods()
	switch {
	case r == nil:
		v.add(Needless, "%s of %s %s for no PersistentPodState", w.Verb, w.Resource, w.name())
	case w.Resource == "persistentpodstates" && w.Subresource == "status":
		after, ok := w.After.(*v1alpha1.PersistentPodState)
		if !ok || after.UID != r.UID || after.Status.ObservedGeneration != r.Generation {
			v.add(Ownership, "the status of another one is written, or of generation %d", r.Generation)
			return v
		}
		v.never(w.Asked != nil && w.Asked.ResourceVersion == "", Status, "the status is written whatever it has become")
		r.checkStatus(&v, &after.Status)
	case w.Resource == "pods" && w.Verb == "delete" && before != nil:
		r.checkDeletion(&v, w)
	default:
		v.add(Spec, "%s of %s/%s is none of its business", w.Verb, w.Resource, w.Subresource)
	}
	return v
}

// injected are the labels that a pod was given to find its node. (PPS-15)
func (r *remembering) injected(pod *corev1.Pod) map[string]string {
	if pod.Annotations[v1alpha1.InjectedPersistentPodStateAnnotation] != r.Name {
		return nil
	}
	return withKeys(pod.Spec.NodeSelector, strings.Split(pod.Annotations[v1alpha1.InjectedNodeSelectorAnnotation], ","))
}

const gaveUp = 30 * time.Second

// checkDeletion: a pod is deleted that waits for a node which is not there, and has for 30 s. (PPS-19, PPS-20)
func (r *remembering) checkDeletion(v *violations, w *Write) {
	before, _ := w.pods()
	pod := w.knownPod()
	if pod == nil || r.set == nil || !metav1.IsControlledBy(pod, r.set) {
		v.add(Ownership, "pod %s is deleted, which is none of the StatefulSet", before.Name)
		return
	}
	v.never(w.Asked != nil && w.Asked.ResourceVersion != pod.ResourceVersion, Ownership,
		"pod %s is deleted whatever has become of it", before.Name)
	injected := r.injected(pod)
	v.never(pod.Spec.NodeName != "" || !active(pod) || len(injected) == 0 || r.exists(injected), Needless,
		"pod %s on node %q is deleted, which was sent to %v", pod.Name, pod.Spec.NodeName, injected)
	since := pod.CreationTimestamp.Time
	for _, c := range r.Status.Conditions {
		if c.Type == v1alpha1.TopologyLostCondition && c.Status == metav1.ConditionTrue && c.LastTransitionTime.After(since) {
			since = c.LastTransitionTime.Time
		}
	}
	v.never(r.state.Now.Sub(since) < gaveUp, Needless, "pod %s is deleted after %v", pod.Name, r.state.Now.Sub(since))
}

// PersistentPodStatePlaced judges what becomes of a new pod, by what the caches show of whom it asked. restores says that pods get
// annotations back. (PPS-11 to PPS-16, PPS-35)
func PersistentPodStatePlaced(cached *State, before, after *corev1.Pod, restores bool) []Violation {
	var v violations
	r := rememberingOf(cached)
	if r != nil && r.DeletionTimestamp != nil {
		r = nil
	}
	var record v1alpha1.PodState
	if ref := metav1.GetControllerOfNoCopy(before); r != nil && (ref == nil || r.ofThis(ref.UID)) {
		record = r.Status.PodStates[before.Name]
	}
	selector := map[string]string{}
	maps.Copy(selector, before.Spec.NodeSelector)
	var terms []corev1.PreferredSchedulingTerm
	if r != nil {
		labels := withKeys(record.NodeTopologyLabels, r.required())
		elsewhere := !r.exists(labels)
		for key, value := range labels {
			elsewhere = elsewhere || selector[key] != "" && selector[key] != value
		}
		if !elsewhere {
			maps.Copy(selector, labels)
		}
		for _, term := range r.Spec.PreferredPersistentTopology {
			if value, found := record.NodeTopologyLabels[term.Preference.NodeTopologyKeys[0]]; found {
				terms = append(terms, corev1.PreferredSchedulingTerm{Weight: term.Weight, Preference: corev1.NodeSelectorTerm{
					MatchExpressions: []corev1.NodeSelectorRequirement{{Key: term.Preference.NodeTopologyKeys[0], Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}}})
			}
		}
	}
	var got []corev1.PreferredSchedulingTerm
	if a := after.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		got = a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	}
	sameTerm := func(a, b corev1.PreferredSchedulingTerm) bool { return a.String() == b.String() }
	if !maps.Equal(selector, after.Spec.NodeSelector) || !slices.EqualFunc(terms, got, sameTerm) {
		v.add(Placement, "pod %s, which ran at %v, is sent to %v and had better go to %v; it should be %v and %v",
			before.Name, record.NodeTopologyLabels, after.Spec.NodeSelector, got, selector, terms)
	}
	if given := len(selector) > len(before.Spec.NodeSelector) || len(terms) > 0; given != (after.Annotations[v1alpha1.InjectedPersistentPodStateAnnotation] != "") {
		v.add(Placement, "pod %s says that it was sent by %q", before.Name, after.Annotations[v1alpha1.InjectedPersistentPodStateAnnotation])
	}
	for key := range record.Annotations {
		want, own := before.Annotations[key]
		asked := slices.ContainsFunc(r.Spec.PersistentPodAnnotations, func(a v1alpha1.PersistentPodAnnotation) bool { return a.Key == key })
		if restores && asked && !own {
			want = record.Annotations[key]
		}
		is := after.Annotations[key]
		v.never(is != want, Placement, "pod %s has the annotation %s=%q, want %q", before.Name, key, is, want)
	}
	return v
}

// PersistentPodStateSettled judges what there is when nothing more happens. Pushed says that there is a node for each pod.
func PersistentPodStateSettled(s *State, pushed bool) []Violation {
	var v violations
	r := rememberingOf(s)
	if r == nil || r.DeletionTimestamp != nil {
		return nil
	}
	v.compareGeneration(r.Status.ObservedGeneration, r.Generation)
	r.checkStatus(&v, &r.Status)
	for _, pod := range r.pods {
		waits := active(pod) && pod.Spec.NodeName == ""
		if injected := r.injected(pod); waits && len(injected) > 0 && !r.exists(injected) && !s.refuses("delete", "pods") && s.Now.Sub(pod.CreationTimestamp.Time) > 2*gaveUp {
			v.add(Settled, "pod %s waits for a node with %v", pod.Name, injected)
		}
		v.never(pushed && !ready(pod), Settled, "pod %s is not ready, and there are nodes for all", pod.Name)
	}
	return v
}
