// SPDX-License-Identifier: Apache-2.0

// Package scheduler decides which nodes take a pod, as the scheduler and the taint manager of Kubernetes do. Tests play
// and judge clusters with it. It shares nothing with the controllers under test: a judge that uses their functions does
// not see mistakes in these.
package scheduler

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// NodeOf is the node that a pod is on, or that it asks for by name, whatever else it asks
// for. It is empty if it is on none and names none.
func NodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	for _, term := range required(&pod.Spec) {
		for _, f := range term.MatchFields {
			if f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}

// Takes tells whether a node takes a pod that is on none yet. It goes by its name, its labels, its
// taints, and what can be allocated of an empty one.
func Takes(node *corev1.Node, spec *corev1.PodSpec) bool {
	if spec.NodeName != "" && spec.NodeName != node.Name || !Selects(spec, node) || !roomy(node, spec) {
		return false
	}
	taints := slices.Clone(node.Spec.Taints)
	if node.Spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return !slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !Tolerates(spec, &t)
	})
}

// Evicts tells whether a taint of a node drives a pod away that runs there.
func Evicts(node *corev1.Node, spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute && !Tolerates(spec, &t)
	})
}

// Tolerates tells whether a pod tolerates a taint.
func Tolerates(spec *corev1.PodSpec, taint *corev1.Taint) bool {
	return slices.ContainsFunc(spec.Tolerations, func(t corev1.Toleration) bool {
		return (t.Key == taint.Key || t.Key == "") && (t.Effect == taint.Effect || t.Effect == "") &&
			(t.Operator == corev1.TolerationOpExists || t.Value == taint.Value)
	})
}

// Selects tells whether the node selector and the required node affinity of a pod match a node.
func Selects(spec *corev1.PodSpec, node *corev1.Node) bool {
	if !labels.SelectorFromSet(spec.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	if !requires(spec) {
		return true
	}
	return slices.ContainsFunc(required(spec), func(term corev1.NodeSelectorTerm) bool { return matches(&term, node) })
}

func requires(spec *corev1.PodSpec) bool {
	return spec.Affinity != nil && spec.Affinity.NodeAffinity != nil && spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}

func required(spec *corev1.PodSpec) []corev1.NodeSelectorTerm {
	if !requires(spec) {
		return nil
	}
	return spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// matches tells whether all requirements of a term hold; an empty one matches nothing.
func matches(term *corev1.NodeSelectorTerm, node *corev1.Node) bool {
	for _, r := range term.MatchExpressions {
		if value, has := node.Labels[r.Key]; !holds(&r, value, has) {
			return false
		}
	}
	for _, r := range term.MatchFields {
		if r.Key != metav1.ObjectNameField || !holds(&r, node.Name, true) {
			return false
		}
	}
	return len(term.MatchExpressions)+len(term.MatchFields) > 0
}

func holds(r *corev1.NodeSelectorRequirement, value string, has bool) bool {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return has && slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !has || !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpExists:
		return has
	case corev1.NodeSelectorOpDoesNotExist:
		return !has
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		is, err := strconv.Atoi(value)
		if err != nil || len(r.Values) != 1 {
			return false
		}
		limit, err := strconv.Atoi(r.Values[0])
		return err == nil && (r.Operator == corev1.NodeSelectorOpGt && is > limit || r.Operator == corev1.NodeSelectorOpLt && is < limit)
	}
	return false
}

// roomy tells whether an empty node has what the containers of a pod request, each of the
// init containers alone, and all others together.
func roomy(node *corev1.Node, spec *corev1.PodSpec) bool {
	var together corev1.ResourceList
	for i := range spec.Containers {
		together = sum(together, spec.Containers[i].Resources.Requests)
	}
	all := []corev1.ResourceList{together}
	for i := range spec.InitContainers {
		all = append(all, spec.InitContainers[i].Resources.Requests)
	}
	return !slices.ContainsFunc(all, func(requests corev1.ResourceList) bool {
		for name, q := range requests {
			if allocatable := node.Status.Allocatable[name]; !q.IsZero() && q.Cmp(allocatable) > 0 {
				return true
			}
		}
		return false
	})
}

func sum(a, b corev1.ResourceList) corev1.ResourceList {
	if a == nil {
		return b.DeepCopy()
	}
	for name, q := range b {
		total := resource.Quantity{}
		total.Add(a[name])
		total.Add(q)
		a[name] = total
	}
	return a
}
