// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// targets select namespaces. parseTargets makes them.
type targets struct {
	all                bool
	included, excluded map[string]bool
	selector           labels.Selector
}

// parseTargets reads the targets of a ResourceDistribution. The error names the field
// that cannot be read.
func parseTargets(t *v1alpha1.ResourceDistributionTargets) (*targets, error) {
	selector, err := metav1.LabelSelectorAsSelector(&t.NamespaceLabelSelector)
	if err != nil {
		return nil, fmt.Errorf("spec.targets.namespaceLabelSelector: %w", err)
	}
	if selector.Empty() {
		selector = labels.Nothing() // (RD-1)
	}
	return &targets{all: t.AllNamespaces, included: names(&t.IncludedNamespaces), excluded: names(&t.ExcludedNamespaces), selector: selector}, nil
}

func names(of *v1alpha1.ResourceDistributionTargetNamespaces) map[string]bool {
	all := make(map[string]bool, len(of.List))
	for _, namespace := range of.List {
		if namespace.Name != "" {
			all[namespace.Name] = true
		}
	}
	return all
}

// match tells whether a namespace is to have a copy, if it exists. (RD-1, RD-2)
func (t *targets) match(name string, of map[string]string) bool {
	switch {
	case t.excluded[name]:
		return false
	case t.included[name]:
		return true
	case name == metav1.NamespaceSystem || name == metav1.NamespacePublic:
		return false
	}
	return t.all || t.selector.Matches(labels.Set(of))
}

// namespaces returns the names of the namespaces that are to have a copy, sorted, and of
// the others that exist. (RD-1 to RD-3)
func (t *targets) namespaces(existing []*corev1.Namespace) (matched, others []string) {
	there := make(map[string]bool, len(existing))
	for _, namespace := range existing {
		there[namespace.Name] = true
		if t.match(namespace.Name, namespace.Labels) {
			matched = append(matched, namespace.Name)
		} else {
			others = append(others, namespace.Name)
		}
	}
	if !t.all {
		for name := range t.included {
			if !there[name] && !t.excluded[name] {
				matched = append(matched, name)
			}
		}
	}
	slices.Sort(matched)
	slices.Sort(others)
	return matched, others
}

// concern tells whether what has become of a namespace may change what is to be done. One
// of the two is nil if it is new or gone. (RD-13)
func (t *targets) concern(before, after *corev1.Namespace) bool {
	matched := func(namespace *corev1.Namespace) bool {
		return namespace != nil && t.match(namespace.Name, namespace.Labels)
	}
	terminating := func(namespace *corev1.Namespace) bool { return namespace != nil && !writable(namespace) }
	if before == nil || after == nil {
		return matched(before) || matched(after)
	}
	return matched(before) != matched(after) || matched(after) && terminating(before) != terminating(after)
}

// writable tells whether something can be created in a namespace. (RD-4)
func writable(namespace *corev1.Namespace) bool {
	return namespace.DeletionTimestamp == nil && namespace.Status.Phase != corev1.NamespaceTerminating
}
