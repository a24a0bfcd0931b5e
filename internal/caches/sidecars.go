// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// anyLabels stands in the index for a selector that no label is needed for.
const anyLabels = "*"

// BySelector is the index of SidecarSets by a label that pods need to match, and their namespace.
var BySelector = podwright.Index{Name: "podwright.sidecarSetSelector", Keys: func(obj any) ([]string, error) {
	set, ok := obj.(*v1alpha1.SidecarSet)
	if !ok {
		return nil, nil
	}
	keys := slices.Clone(NeededLabels(set.Spec.Selector))
	for i := range keys {
		keys[i] = set.Spec.Namespace + "/" + keys[i]
	}
	return keys, nil
}}

// NeededLabels returns labels of which an object has one that matches a selector, with
// their values if they are known. A selector that selects nothing needs none of any.
func NeededLabels(selector *metav1.LabelSelector) (labels []string) {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return nil
	}
	first := ""
	for key := range selector.MatchLabels {
		if first == "" || key < first {
			first = key
		}
	}
	if first != "" {
		return []string{pair(first, selector.MatchLabels[first])}
	}
	at := func(o metav1.LabelSelectorOperator) int {
		return slices.IndexFunc(selector.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Operator == o })
	}
	if i := at(metav1.LabelSelectorOpIn); i >= 0 {
		e := &selector.MatchExpressions[i]
		for _, value := range e.Values {
			labels = append(labels, pair(e.Key, value))
		}
		slices.Sort(labels)
		return slices.Compact(labels)
	}
	if i := at(metav1.LabelSelectorOpExists); i >= 0 {
		return []string{selector.MatchExpressions[i].Key}
	}
	return []string{anyLabels}
}

func pair(key, value string) string { return key + "=" + value }

// SidecarSetsFor returns the SidecarSets indexed BySelector, that may match pods of a
// namespace with these labels, each once. It returns all that do, and some that do not.
// They are shared with the cache and must not be changed.
func SidecarSetsFor(
	r podwright.Reader, resource podwright.Resource, namespace string, labels map[string]string,
) (sets []*v1alpha1.SidecarSet, err error) {
	keys := []string{anyLabels}
	for key, value := range labels {
		keys = append(keys, key, pair(key, value))
	}
	prefixes := []string{"/", namespace + "/"}
	if namespace == "" {
		prefixes = prefixes[:1]
	}
	for _, key := range keys {
		for _, prefix := range prefixes {
			found, err := byIndex[*v1alpha1.SidecarSet](r, resource, metav1.NamespaceNone, BySelector, prefix+key)
			if err != nil {
				return nil, err
			}
			sets = append(sets, found...)
		}
	}
	return sets, nil
}

// ByLabelPair is the index of pods by their labels.
var ByLabelPair = podwright.Index{Name: "podwright.labelPair", Keys: func(obj any) (pairs []string, err error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, nil
	}
	for key, value := range pod.Labels {
		pairs = append(pairs, pair(key, value))
	}
	return pairs, nil
}}

// PodsFor returns the pods, indexed ByLabelPair, that a SidecarSet
// may match, each once: all that it does, and some that it does not. They are shared with
// the cache and must not be changed.
//
// A selector that needs no label to have a certain value costs a look at every pod of
// its namespace.
func PodsFor(r podwright.Reader, set *v1alpha1.SidecarSet) (pods []*corev1.Pod, err error) {
	for _, label := range NeededLabels(set.Spec.Selector) {
		if !strings.Contains(label, "=") {
			return All[*corev1.Pod](r, Pods, set.Spec.Namespace)
		}
		found, err := byIndex[*corev1.Pod](r, Pods, set.Spec.Namespace, ByLabelPair, label)
		if err != nil {
			return nil, err
		}
		for _, pod := range found {
			if set.Spec.Namespace == "" || set.Spec.Namespace == pod.Namespace {
				pods = append(pods, pod)
			}
		}
	}
	return pods, nil
}
