// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Result is what an injection gives.
type Result struct {
	Assignment
	// Pod is the pod to create: a copy, or the given one if it has no subset.
	Pod *corev1.Pod
	// Reservation is what to remember of it if Assignment.Counted says so.
	Reservation Reservation
}

// Inject assigns a new pod to a subset, and gives it what the subset has for it. The error names
// the subset and what is wrong; the pod must not be created then. (WS-4 to WS-11)
func Inject(in Input) (*Result, error) {
	switch {
	case in.Pod == nil:
		return nil, errors.New("Input.Pod is nil; give it the pod that is created")
	case in.Spread == nil:
		return nil, errors.New("Input.Spread is nil; give it the WorkloadSpread of the pod's workload")
	}
	if w := in.Workload; w != nil && w.Unknown != nil && !w.Deleting && InPercent(in.Spread) && in.Spread.DeletionTimestamp == nil && selects(in.Spread)(in.Pod) {
		return nil, fmt.Errorf("WorkloadSpread %s: %w", in.Spread.Name, w.Unknown)
	}
	r := &Result{Assignment: assign(in), Pod: in.Pod}
	if r.Subset == "" {
		return r, nil
	}
	subset := &in.Spread.Spec.Subsets[newMembers(in.Spread).named(r.Subset)]
	pod, err := applied(in.Pod, subset)
	if err != nil {
		return nil, fmt.Errorf("subset %s of WorkloadSpread %s: %w", subset.Name, in.Spread.Name, err)
	}
	if err := strayed(in.Pod.Labels, pod.Labels, in.Workload.selector()); err != nil {
		return nil, fmt.Errorf("subset %s of WorkloadSpread %s: its patch %w; take it out of the patch", subset.Name, in.Spread.Name, err)
	}
	key, uid := in.Pod.Name, ""
	if key == "" {
		if key = in.Key; r.Counted {
			uid = key
		}
	}
	if matched, readable := Matched(in.Pod); !readable || matched.Name != in.Spread.Name || matched.Subset != r.Subset || r.Counted {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, v1alpha1.MatchedWorkloadSpreadAnnotation, annotation(in.Spread, r.Subset, uid))
	}
	r.Pod = pod
	r.Reservation = Reservation{Key: key, Subset: r.Subset, Owner: controllerOf(in.Pod), Revision: revisionOf(in.Pod), Since: in.Now, Expires: in.Now.Add(ReservedFor)}
	return r, nil
}

// applied is a copy of a pod with the rules and the patch of a subset. (WS-10, WS-11)
func applied(pod *corev1.Pod, subset *v1alpha1.WorkloadSpreadSubset) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
	for i := range subset.Tolerations {
		if t := &subset.Tolerations[i]; !slices.ContainsFunc(pod.Spec.Tolerations, func(has corev1.Toleration) bool { return equality.Semantic.DeepEqual(has, *t) }) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, *t.DeepCopy())
		}
	}
	addAffinity(&pod.Spec, subset)
	class := pod.Spec.PriorityClassName
	pod, err := patched(pod, subset.Patch.Raw)
	if err == nil && pod.Spec.PriorityClassName != class {
		pod.Spec.Priority, pod.Spec.PreemptionPolicy = nil, nil // which are those of the class before
	}
	return pod, err
}

// ApplyTo returns a copy of a pod template as pods in a subset have it. The error says what is wrong with the patch. (WS-10, WS-11)
func ApplyTo(template *corev1.PodTemplateSpec, subset *v1alpha1.WorkloadSpreadSubset) (*corev1.PodTemplateSpec, error) {
	pod, err := applied(&corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}, subset)
	if err != nil {
		return nil, err
	}
	return &corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}, nil
}

// addAffinity adds the terms of a subset to the node affinity of a pod. (WS-10)
func addAffinity(spec *corev1.PodSpec, subset *v1alpha1.WorkloadSpreadSubset) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	affinity := spec.Affinity.NodeAffinity
	for i := range subset.PreferredNodeSelectorTerms {
		term := &subset.PreferredNodeSelectorTerms[i]
		has := func(has corev1.PreferredSchedulingTerm) bool { return equality.Semantic.DeepEqual(has, *term) }
		if !slices.ContainsFunc(affinity.PreferredDuringSchedulingIgnoredDuringExecution, has) {
			affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.PreferredDuringSchedulingIgnoredDuringExecution, *term.DeepCopy())
		}
	}
	if !hasTerm(subset) {
		return
	}
	if affinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		affinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
	}
	required := affinity.RequiredDuringSchedulingIgnoredDuringExecution
	required.NodeSelectorTerms = terms(required.NodeSelectorTerms, subset)
}

// hasTerm tells whether a subset requires anything of nodes.
func hasTerm(subset *v1alpha1.WorkloadSpreadSubset) bool {
	term := subset.RequiredNodeSelectorTerm
	return term != nil && len(term.MatchExpressions)+len(term.MatchFields) > 0
}

// terms adds what a subset requires to each of the terms of a pod, or to none of them if there
// are none. A term without expressions matches no node, and stays so. (WS-10)
func terms(of []corev1.NodeSelectorTerm, subset *v1alpha1.WorkloadSpreadSubset) []corev1.NodeSelectorTerm {
	wanted := subset.RequiredNodeSelectorTerm
	if len(of) == 0 {
		return []corev1.NodeSelectorTerm{*wanted.DeepCopy()}
	}
	for i := range of {
		if term := &of[i]; len(term.MatchExpressions)+len(term.MatchFields) > 0 {
			term.MatchExpressions = union(term.MatchExpressions, wanted.MatchExpressions)
			term.MatchFields = union(term.MatchFields, wanted.MatchFields)
		}
	}
	return of
}

func union(has, wanted []corev1.NodeSelectorRequirement) []corev1.NodeSelectorRequirement {
	for i := range wanted {
		if !contains(has, &wanted[i]) {
			has = append(has, *wanted[i].DeepCopy())
		}
	}
	return has
}

func contains(has []corev1.NodeSelectorRequirement, wanted *corev1.NodeSelectorRequirement) bool {
	return slices.ContainsFunc(has, func(r corev1.NodeSelectorRequirement) bool { return equality.Semantic.DeepEqual(r, *wanted) })
}

// carries tells whether a pod requires of nodes what a subset does. (WS-6)
func carries(pod *corev1.Pod, subset *v1alpha1.WorkloadSpreadSubset) bool {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	all := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range all {
		for e := range subset.RequiredNodeSelectorTerm.MatchExpressions {
			if !contains(all[i].MatchExpressions, &subset.RequiredNodeSelectorTerm.MatchExpressions[e]) {
				return false
			}
		}
		for f := range subset.RequiredNodeSelectorTerm.MatchFields {
			if !contains(all[i].MatchFields, &subset.RequiredNodeSelectorTerm.MatchFields[f]) {
				return false
			}
		}
	}
	return len(all) > 0
}

// patched applies a strategic merge patch to a pod. (WS-11)
func patched(pod *corev1.Pod, patch []byte) (*corev1.Pod, error) {
	if len(patch) == 0 || string(patch) == "null" {
		return pod, nil
	}
	before, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("the patch is no strategic merge patch of a pod: %w", err)
	}
	result := &corev1.Pod{}
	if err := json.Unmarshal(after, result); err != nil {
		return nil, fmt.Errorf("what the patch makes of the pod is none: %w", err)
	}
	return result, nil
}
