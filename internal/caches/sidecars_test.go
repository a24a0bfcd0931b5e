// SPDX-License-Identifier: Apache-2.0

package caches_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The selectors of SidecarSets, by name. Those of "shop-…" name a namespace.
var selectors = map[string]string{
	"labels":       "{matchLabels: {tier: front, app: web}}",
	"other-labels": "{matchLabels: {app: db}}",
	"in":           "{matchExpressions: [{key: tier, operator: NotIn, values: [x]}, {key: app, operator: In, values: [web, db, web]}]}",
	"exists":       "{matchExpressions: [{key: app, operator: Exists}]}",
	"absent":       "{matchExpressions: [{key: app, operator: DoesNotExist}]}",
	"not-in":       "{matchExpressions: [{key: app, operator: NotIn, values: [web]}]}",
	"unreadable":   "{matchExpressions: [{key: app, operator: Is}]}",
	"empty":        "{}",
	"shop-labels":  "{matchLabels: {app: web}}",
	"bank-exists":  "{matchExpressions: [{key: app, operator: Exists}]}",
}

// TestSidecarSetsAndPods: whatever matches is found from either side, once, and by the
// labels if they can tell nothing else is.
func TestSidecarSetsAndPods(t *testing.T) {
	var sets []*v1alpha1.SidecarSet
	for name, text := range selectors {
		set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := yaml.UnmarshalStrict([]byte(text), &set.Spec.Selector); err != nil {
			t.Fatal(err)
		}
		if namespace, _, found := strings.Cut(name, "-"); found && (namespace == "shop" || namespace == "bank") {
			set.Spec.Namespace = namespace
		}
		sets = append(sets, set)
	}
	sets = append(sets, &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "without"}})
	var pods []*corev1.Pod
	for i, of := range []map[string]string{{"app": "web", "tier": "front"}, {"app": "web"}, {"app": "db"}, {"tier": "front"}, nil} {
		for _, namespace := range []string{"shop", "bank"} {
			pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("pod-", i), Labels: of}})
		}
	}
	reader := reading(t, "sidecarsets", []podwright.Index{caches.BySelector}, sets...)
	reader[caches.Pods] = reading(t, caches.Pods, []podwright.Index{caches.ByLabelPair}, pods...)[caches.Pods]
	// once fails unless what should be found is found once, and all else at most once.
	once := func(n int, set *v1alpha1.SidecarSet, pod *corev1.Pod) {
		t.Helper()
		selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		matches := err == nil && !selector.Empty() && selector.Matches(labels.Set(pod.Labels)) && (set.Spec.Namespace == "" || set.Spec.Namespace == pod.Namespace)
		if n > 1 || n == 0 && matches {
			t.Errorf("SidecarSet %s and pod %s/%s are found %d times", set.Name, pod.Namespace, pod.Name, n)
		}
	}
	for _, set := range sets {
		ofSet, err := caches.PodsFor(reader, set)
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range pods {
			once(countOf(ofSet, pod), set, pod)
			ofPod, err := caches.SidecarSetsFor(reader, "sidecarsets", pod.Namespace, pod.Labels)
			if err != nil {
				t.Fatal(err)
			}
			once(countOf(ofPod, set), set, pod)
		}
	}
	for name, want := range map[string]string{
		"labels": "pod-0 pod-0 pod-1 pod-1", "other-labels": "pod-2 pod-2", "shop-labels": "pod-0 pod-1", "in": "pod-0 pod-0 pod-1 pod-1 pod-2 pod-2", "empty": "", "without": "",
	} {
		at := slices.IndexFunc(sets, func(s *v1alpha1.SidecarSet) bool { return s.Name == name })
		if got := names[*corev1.Pod](t)(caches.PodsFor(reader, sets[at])); got != want {
			t.Errorf("%s: looked at are the pods %s, want %s", name, got, want)
		}
	}
}

func countOf[T comparable](all []T, one T) (n int) {
	for _, other := range all {
		if other == one {
			n++
		}
	}
	return n
}
