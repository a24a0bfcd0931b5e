// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// For returns the budget that a new pod belongs to, of those of its namespace; nil for none. The
// workload is the pod's, nil if it has none or that is not known: then it belongs to
// none yet. (PUB-20)
func For(pod *corev1.Pod, workload *Workload, budgets []*v1alpha1.PodUnavailableBudget) *v1alpha1.PodUnavailableBudget {
	if workload == nil {
		return nil
	}
	for _, b := range slices.SortedFunc(slices.Values(budgets), func(a, b *v1alpha1.PodUnavailableBudget) int {
		return cmp.Compare(a.Name, b.Name)
	}) {
		if Matches(b, pod, workload) {
			return b
		}
	}
	return nil
}

// Matches tells whether a budget is about a pod of its namespace. With targetRef the group, kind
// and name of the pod's workload decide; it is nil if the pod has none or it is not known. With
// selector the labels of the pod decide. A selector that cannot be read matches nothing. (PUB-20)
func Matches(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod, workload *Workload) bool {
	if b.Spec.TargetReference == nil && b.Spec.Selector != nil {
		for key, value := range b.Spec.Selector.MatchLabels { // most pods lack them, so that most selectors need not be read
			if own, found := pod.Labels[key]; !found || own != value {
				return false
			}
		}
	}
	return Matcher(b)(pod, workload)
}

// Matcher returns Matches of a budget for many pods: it reads the selector once. (PUB-20)
func Matcher(b *v1alpha1.PodUnavailableBudget) func(pod *corev1.Pod, workload *Workload) bool {
	if b.Spec.TargetReference != nil {
		return func(_ *corev1.Pod, workload *Workload) bool {
			return workload != nil && Targets(b, workload.GroupKind, workload.Name)
		}
	}
	selector, err := selectorOf(b)
	return func(pod *corev1.Pod, _ *Workload) bool { return err == nil && selector.Matches(labels.Set(pod.Labels)) }
}

// MayMatch tells whether a budget may be about a pod of its namespace that names none, if the workloads are not known.
// With selector the labels of the pod decide. With targetRef the name of the pod's controller has to begin with the one
// that it names, as that of a ReplicaSet with its Deployment's. (PUB-14.1)
func MayMatch(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod) bool {
	if target := b.Spec.TargetReference; target != nil {
		controller := metav1.GetControllerOfNoCopy(pod)
		return controller != nil && strings.HasPrefix(controller.Name, target.Name)
	}
	return Matches(b, pod, nil)
}

// MayCount tells whether a budget may be about a pod that names it, as far as the pod itself says. What is taken out of its selector, or released by its
// workload, is not counted, and so not judged. Nor is what comes from a kind of which no budget knows what controls it. (PUB-35)
func MayCount(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod) bool { return MayCountBy(b)(pod) }

// MayCountBy returns MayCount of a budget for many pods: it reads the selector once. (PUB-35)
func MayCountBy(b *v1alpha1.PodUnavailableBudget) func(pod *corev1.Pod) bool {
	target := b.Spec.TargetReference
	if target == nil {
		matches := Matcher(b)
		return func(pod *corev1.Pod) bool { return matches(pod, nil) }
	}
	group, kind := groupKind(target)
	return func(pod *corev1.Pod) bool {
		ref := metav1.GetControllerOfNoCopy(pod)
		if ref == nil {
			return false
		}
		of := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		if of.Group == group && of.Kind == kind {
			return ref.Name == target.Name
		}
		return isRead(of) // then it may come from the target
	}
}

// Targets tells whether the targetRef of a budget names a workload. Versions do not matter.
func Targets(b *v1alpha1.PodUnavailableBudget, of schema.GroupKind, name string) bool {
	if b.Spec.TargetReference == nil {
		return false
	}
	group, kind := groupKind(b.Spec.TargetReference)
	return kind != "" && group == of.Group && kind == of.Kind && b.Spec.TargetReference.Name == name
}

func groupKind(ref *v1alpha1.TargetReference) (group, kind string) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return "", ""
	}
	return gv.Group, ref.Kind
}

// Conflict tells whether two budgets of a namespace may be about the same pods. One
// with a selector and one with a reference never are. (PUB-21)
func Conflict(a, b *v1alpha1.PodUnavailableBudget) bool {
	if mine, theirs := a.Spec.TargetReference, b.Spec.TargetReference; mine != nil && theirs != nil {
		group, kind := groupKind(mine)
		otherGroup, otherKind := groupKind(theirs)
		return kind != "" && group == otherGroup && kind == otherKind && mine.Name == theirs.Name
	}
	if a.Spec.Selector == nil || b.Spec.Selector == nil {
		return false
	}
	mine, theirs := requirements(a.Spec.Selector), requirements(b.Spec.Selector)
	if len(mine) != len(theirs) {
		return false
	}
	for key, one := range mine {
		if other, found := theirs[key]; !found || !compatible(one, other) && !compatible(other, one) {
			return false
		}
	}
	return true
}

// requirements are what a selector asks of each key; a label wins over an expression.
func requirements(s *metav1.LabelSelector) map[string]metav1.LabelSelectorRequirement {
	all := map[string]metav1.LabelSelectorRequirement{}
	for _, e := range s.MatchExpressions {
		all[e.Key] = e
	}
	for key, value := range s.MatchLabels {
		all[key] = metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}}
	}
	return all
}

// compatible tells whether a key may be as both ask, if that can be seen from the side of
// the first. (PUB-21)
func compatible(a, b metav1.LabelSelectorRequirement) bool {
	switch a.Operator {
	case metav1.LabelSelectorOpIn:
		switch values := sets.New(b.Values...); b.Operator {
		case metav1.LabelSelectorOpIn:
			return values.HasAny(a.Values...)
		case metav1.LabelSelectorOpNotIn:
			return !values.HasAll(a.Values...)
		case metav1.LabelSelectorOpExists:
			return true
		}
	case metav1.LabelSelectorOpExists:
		return b.Operator == metav1.LabelSelectorOpExists || b.Operator == metav1.LabelSelectorOpNotIn
	case metav1.LabelSelectorOpNotIn:
		return b.Operator == metav1.LabelSelectorOpNotIn || b.Operator == metav1.LabelSelectorOpDoesNotExist
	case metav1.LabelSelectorOpDoesNotExist:
		return b.Operator == metav1.LabelSelectorOpDoesNotExist
	}
	return false
}
