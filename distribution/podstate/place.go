// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// Placement is what is done to a new pod so that it goes to the node of its predecessor.
type Placement struct {
	// Pod is the pod as it should be: the one that was given if nothing is done, a changed
	// copy of it else.
	Pod *corev1.Pod
	// Required are the labels that its node selector gets. Preferred are the terms that its affinity
	// gets.
	Required  map[string]string
	Preferred []corev1.PreferredSchedulingTerm
	// Annotations are those that it gets back; nil unless Restore was called.
	Annotations map[string]string
	// Reason says why nothing is required of its node, or nothing done at all; empty if all that was asked
	// for is done.
	Reason string
}

// Changed tells whether anything is done to the pod.
func (p *Placement) Changed() bool {
	return len(p.Required) > 0 || len(p.Preferred) > 0 || len(p.Annotations) > 0
}

// Place has a pod that is about to be created go to the node of its predecessor, as the state that is recorded
// says. It changes neither; s may be nil. What is done to a pod already is not done again.
// (PPS-11 to PPS-16)
func Place(s *v1alpha1.PersistentPodState, pod *corev1.Pod, nodes *Nodes) *Placement {
	p := &Placement{Pod: pod}
	if s == nil {
		p.Reason = "there is no PersistentPodState for its workload"
		return p
	}
	record, found := s.Status.PodStates[pod.Name]
	switch ref := metav1.GetControllerOfNoCopy(pod); {
	case ref != nil && ofAnother(&s.Status, ref.UID):
		p.Reason = fmt.Sprintf("what PersistentPodState %s has recorded is of another workload of the name, which is gone", s.Name)
		return p
	case !found:
		p.Reason = fmt.Sprintf("PersistentPodState %s has not seen a pod of this name ready", s.Name)
		return p
	case len(record.NodeTopologyLabels) == 0:
		p.Reason = fmt.Sprintf("it ran on node %s, which has had none of the topology keys of PersistentPodState %s", record.NodeName, s.Name)
		return p
	}
	p.Required, p.Reason = required(s, &record, pod, nodes)
	p.Preferred = preferred(s, &record, pod)
	if p.Changed() {
		p.Pod = pod.DeepCopy()
		p.apply(s.Name)
	}
	return p
}

// Restore gives the pod of a Placement, which Place has made of the same state, the recorded annotations that it does not have. s
// may be nil. It is for those who have the switch RestoreAnnotations. (PPS-35)
func (p *Placement) Restore(s *v1alpha1.PersistentPodState) {
	if s == nil {
		return
	}
	if ref := metav1.GetControllerOfNoCopy(p.Pod); ref != nil && ofAnother(&s.Status, ref.UID) {
		return
	}
	recorded := s.Status.PodStates[p.Pod.Name].Annotations
	for _, asked := range s.Spec.PersistentPodAnnotations {
		value, is := recorded[asked.Key]
		if _, has := p.Pod.Annotations[asked.Key]; !is || has || !Restorable(asked.Key) {
			continue
		}
		if p.Annotations == nil {
			p.Annotations, p.Pod = map[string]string{}, p.Pod.DeepCopy()
		}
		p.Annotations[asked.Key] = value
		metav1.SetMetaDataAnnotation(&p.Pod.ObjectMeta, asked.Key, value)
	}
}

// Restorable tells whether pods get back the annotation of a key. Those of kruise.io, podwright.io and the domains below are of one
// pod: controllers write there what they have done to it. (PPS-35)
func Restorable(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return !slices.ContainsFunc([]string{"kruise.io", "podwright.io"}, func(ours string) bool {
		return domain == ours || strings.HasSuffix(domain, "."+ours)
	})
}

// required are the labels to ask for, which are those that the pod does not ask for by itself. There are none
// if no node has them all and is as the pod asks for. (PPS-12, PPS-13)
func required(s *v1alpha1.PersistentPodState, record *v1alpha1.PodState, pod *corev1.Pod, nodes *Nodes) (map[string]string, string) {
	all := podstate.Pick(record.NodeTopologyLabels, requiredKeys(s)...)
	missing := maps.Clone(all)
	for key, value := range all {
		own, found := pod.Spec.NodeSelector[key]
		if found && own != value {
			return nil, fmt.Sprintf("its own node selector asks for %s=%s, and it ran at %s=%s", key, own, key, value)
		}
		if found {
			delete(missing, key)
		}
	}
	switch {
	case len(missing) == 0:
		return nil, ""
	case !nodes.any(record.NodeName, all, nil):
		return nil, fmt.Sprintf("it ran at %s, and no node is there any more", list(all))
	case !nodes.any(record.NodeName, all, asksFor(&pod.Spec)):
		return nil, fmt.Sprintf("it ran at %s, and no node there is as its own node selector and affinity ask for", list(all))
	}
	return missing, ""
}

// The weights that a preference can have.
const leastWeight, mostWeight = 1, 100

// preferred are the terms that the pod does not have yet, in the order of the spec. (PPS-14)
func preferred(s *v1alpha1.PersistentPodState, record *v1alpha1.PodState, pod *corev1.Pod) (terms []corev1.PreferredSchedulingTerm) {
	for i := range s.Spec.PreferredPersistentTopology {
		from := &s.Spec.PreferredPersistentTopology[i]
		term := corev1.PreferredSchedulingTerm{Weight: min(from.Weight, mostWeight)}
		for _, key := range from.Preference.NodeTopologyKeys {
			if value, found := record.NodeTopologyLabels[key]; found {
				term.Preference.MatchExpressions = append(term.Preference.MatchExpressions,
					corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
			}
		}
		if term.Weight >= leastWeight && len(term.Preference.MatchExpressions) > 0 && !has(pod, &term) {
			terms = append(terms, term)
		}
	}
	return terms
}

func has(pod *corev1.Pod, term *corev1.PreferredSchedulingTerm) bool {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return false
	}
	return slices.ContainsFunc(pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution, func(own corev1.PreferredSchedulingTerm) bool {
		return equality.Semantic.DeepEqual(&own, term)
	})
}

// apply changes the copy of the pod. (PPS-15, PPS-16)
func (p *Placement) apply(name string) {
	spec := &p.Pod.Spec
	if len(p.Required) > 0 && spec.NodeSelector == nil {
		spec.NodeSelector = map[string]string{}
	}
	maps.Copy(spec.NodeSelector, p.Required)
	if len(p.Preferred) > 0 {
		if spec.Affinity == nil {
			spec.Affinity = &corev1.Affinity{}
		}
		if spec.Affinity.NodeAffinity == nil {
			spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
		}
		own := &spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		*own = append(*own, p.Preferred...)
	}
	if p.Pod.Annotations == nil {
		p.Pod.Annotations = map[string]string{}
	}
	keys := slices.Collect(maps.Keys(p.Required))
	if p.Pod.Annotations[v1alpha1.InjectedPersistentPodStateAnnotation] == name {
		keys = append(keys, split(p.Pod.Annotations[v1alpha1.InjectedNodeSelectorAnnotation])...)
	}
	slices.Sort(keys)
	p.Pod.Annotations[v1alpha1.InjectedPersistentPodStateAnnotation] = name
	p.Pod.Annotations[v1alpha1.InjectedNodeSelectorAnnotation] = strings.Join(slices.Compact(keys), ",")
}

// list shows labels.
func list(labels map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return strings.Join(out, ",")
}
