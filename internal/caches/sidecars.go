// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The names of the indexes that find SidecarSets and pods by each other.
const (
	bySelector  = "podwright.sidecarSetSelector"
	byLabelPair = "podwright.labelPair"
)

// anyLabels stands in the index for a selector that no label is needed for.
const anyLabels = "*"

// AddSelectorIndex indexes an informer of SidecarSets by a label that pods need to
// match, and their namespace. It does nothing if the informer has that index already.
func AddSelectorIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, bySelector, func(obj any) ([]string, error) {
		set, ok := obj.(*v1alpha1.SidecarSet)
		if !ok {
			return nil, nil
		}
		keys := slices.Clone(NeededLabels(set.Spec.Selector))
		for i := range keys {
			keys[i] = set.Spec.Namespace + "/" + keys[i]
		}
		return keys, nil
	})
}

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

// SidecarSetsFor returns the SidecarSets of an informer indexed by AddSelectorIndex that
// may match pods of a namespace with these labels, each once: all that do, and some that
// do not. They are shared with the cache and must not be changed.
func SidecarSetsFor(indexer cache.Indexer, namespace string, labels map[string]string) (sets []*v1alpha1.SidecarSet, err error) {
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
			found, err := byIndex[*v1alpha1.SidecarSet](indexer, bySelector, prefix+key)
			if err != nil {
				return nil, err
			}
			sets = append(sets, found...)
		}
	}
	return sets, nil
}

// AddLabelPairIndex indexes an informer of pods by their labels. It does nothing if
// the informer has that index already.
func AddLabelPairIndex(informer cache.SharedIndexInformer) error {
	return addIndex(informer, byLabelPair, func(obj any) (pairs []string, err error) {
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			return nil, nil
		}
		for key, value := range pod.Labels {
			pairs = append(pairs, pair(key, value))
		}
		return pairs, nil
	})
}

// PodsFor returns the pods of an informer indexed by AddLabelPairIndex that a SidecarSet
// may match, each once: all that it does, and some that it does not. They are shared with
// the cache and must not be changed.
//
// A selector that needs no label to have a certain value costs a look at every pod of
// its namespace.
func PodsFor(indexer cache.Indexer, set *v1alpha1.SidecarSet) (pods []*corev1.Pod, err error) {
	for _, label := range NeededLabels(set.Spec.Selector) {
		if !strings.Contains(label, "=") {
			return podsIn(indexer, set.Spec.Namespace)
		}
		found, err := byIndex[*corev1.Pod](indexer, byLabelPair, label)
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

func podsIn(indexer cache.Indexer, namespace string) (pods []*corev1.Pod, err error) {
	for _, object := range indexer.List() {
		if pod, ok := object.(*corev1.Pod); ok && (namespace == "" || namespace == pod.Namespace) {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}
