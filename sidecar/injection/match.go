// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Matches returns why a SidecarSet injects nothing into a pod of a namespace that is
// created, and the empty string if it does. The namespace may be nil: then its
// labels are not known. A nil SidecarSet matches nothing, and nothing matches a nil pod. (SCI-1, SCI-2)
func Matches(set *v1alpha1.SidecarSet, pod *corev1.Pod, namespace *corev1.Namespace) (skipped string) {
	switch {
	case set == nil:
		return "there is no SidecarSet"
	case pod == nil:
		return "there is no pod"
	case podstate.Ended(pod):
		return "the pod has ended"
	case pod.DeletionTimestamp != nil:
		return "the pod is being deleted"
	case set.Spec.InjectionStrategy.Paused:
		return "spec.injectionStrategy.paused is true"
	}
	return NewSelector(set).Skips(pod, namespace)
}

// Selector is which pods a SidecarSet selects: read once, to ask about many.
type Selector struct {
	namespace      string
	pods, selected selecting
}

// selecting is a selector of the spec as it was read, or why it selects nothing.
type selecting struct {
	name, skips string
	selector    labels.Selector // nil: there is none
}

// NewSelector reads the selectors of a SidecarSet.
func NewSelector(set *v1alpha1.SidecarSet) *Selector {
	s := &Selector{namespace: set.Spec.Namespace, pods: readField("spec.selector", set.Spec.Selector)}
	if set.Spec.NamespaceSelector != nil {
		s.selected = readField("spec.namespaceSelector", set.Spec.NamespaceSelector)
	}
	return s
}

// readField reads a selector. An empty one selects nothing.
func readField(name string, selector *metav1.LabelSelector) selecting {
	read, err := metav1.LabelSelectorAsSelector(selector)
	switch {
	case err != nil:
		return selecting{name: name, selector: labels.Nothing(), skips: fmt.Sprintf("%s cannot be read: %v", name, err)}
	case selector == nil || read.Empty():
		return selecting{name: name, selector: labels.Nothing(), skips: name + " is empty"}
	}
	return selecting{name: name, selector: read}
}

// Problem says why the SidecarSet selects no pods at all; empty if it may.
func (s *Selector) Problem() string {
	if s.pods.skips != "" {
		return s.pods.skips
	}
	return s.selected.skips
}

// Skips returns why the SidecarSet does not select a pod of a namespace, and the empty string if it
// does. The pod is to be injected, or was. The namespace may be nil: then its labels are not known.
func (s *Selector) Skips(pod *corev1.Pod, namespace *corev1.Namespace) (skipped string) {
	name := pod.Namespace
	if name == "" && namespace != nil {
		name = namespace.Name
	}
	switch {
	case pod.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return "the pod mirrors a static one: its kubelet runs what its file says"
	case s.namespace != "" && s.namespace != name:
		return fmt.Sprintf("spec.namespace %q is not that of the pod, %q", s.namespace, name)
	case s.selected.selector == nil:
	case namespace == nil:
		return fmt.Sprintf("spec.namespaceSelector: no cache has the labels of namespace %q", name)
	default:
		if skipped := s.selected.check("labels of the namespace", namespace.Labels); skipped != "" {
			return skipped
		}
	}
	return s.pods.check("labels of the pod", pod.Labels)
}

// check says why a selector does not select labels.
func (f *selecting) check(what string, of map[string]string) (skipped string) {
	switch {
	case f.skips != "":
		return f.skips
	case !f.selector.Matches(labels.Set(of)):
		return fmt.Sprintf("%s %q does not match the %s, %q", f.name, f.selector, what, labels.FormatLabels(of))
	}
	return ""
}
