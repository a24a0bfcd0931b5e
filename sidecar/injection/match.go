// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Matches returns why a SidecarSet injects nothing into a pod of a namespace that is
// created, and the empty string where it does. The namespace may be nil: then nobody knows
// its labels. A nil SidecarSet matches nothing, and nothing matches a nil pod. (SCI-1, SCI-2)
func Matches(set *v1alpha1.SidecarSet, pod *corev1.Pod, namespace *corev1.Namespace) (skipped string) {
	switch {
	case set == nil:
		return "there is no SidecarSet"
	case pod == nil:
		return "there is no pod"
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return "the pod has ended"
	case pod.DeletionTimestamp != nil:
		return "the pod is being deleted"
	case set.Spec.InjectionStrategy.Paused:
		return "spec.injectionStrategy.paused is true"
	}
	if skipped := namespaceMatches(set, pod, namespace); skipped != "" {
		return skipped
	}
	return selects("spec.selector", set.Spec.Selector, "labels of the pod", pod.Labels)
}

func namespaceMatches(set *v1alpha1.SidecarSet, pod *corev1.Pod, namespace *corev1.Namespace) (skipped string) {
	name := pod.Namespace
	if name == "" && namespace != nil {
		name = namespace.Name
	}
	switch selector := set.Spec.NamespaceSelector; {
	case set.Spec.Namespace != "" && set.Spec.Namespace != name:
		return fmt.Sprintf("spec.namespace %q is not that of the pod, %q", set.Spec.Namespace, name)
	case selector == nil:
		return ""
	case namespace == nil:
		return fmt.Sprintf("spec.namespaceSelector: nobody knows the labels of namespace %q", name)
	default:
		return selects("spec.namespaceSelector", selector, "labels of the namespace", namespace.Labels)
	}
}

// selects says why a selector does not select labels. An empty one selects nothing.
func selects(field string, selector *metav1.LabelSelector, what string, of map[string]string) (skipped string) {
	read, err := metav1.LabelSelectorAsSelector(selector)
	switch {
	case err != nil:
		return fmt.Sprintf("%s cannot be read: %v", field, err)
	case selector == nil || read.Empty():
		return field + " is empty"
	case !read.Matches(labels.Set(of)):
		return fmt.Sprintf("%s %q does not match the %s, %q", field, read, what, labels.FormatLabels(of))
	}
	return ""
}
