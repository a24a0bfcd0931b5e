// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

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

func sidecarIndexers(t testing.TB, sets []*v1alpha1.SidecarSet, pods []*corev1.Pod) (ofSets, ofPods cache.Indexer) {
	t.Helper()
	setInformer, podInformer := cache.NewSharedIndexInformer(nil, &v1alpha1.SidecarSet{}, 0, cache.Indexers{}), cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	for range 2 { // a second user of a shared informer adds nothing
		if err := AddIndexes(setInformer, BySelector); err != nil {
			t.Fatal(err)
		}
		if err := AddIndexes(podInformer, ByLabelPair); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range sets {
		if err := setInformer.GetIndexer().Add(set); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range pods {
		if err := podInformer.GetIndexer().Add(pod); err != nil {
			t.Fatal(err)
		}
	}
	return setInformer.GetIndexer(), podInformer.GetIndexer()
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
	ofSets, ofPods := sidecarIndexers(t, sets, pods)
	reader := Reader{"sidecarsets": ofSets, Pods: ofPods}
	matches := func(set *v1alpha1.SidecarSet, pod *corev1.Pod) bool {
		selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		return err == nil && !selector.Empty() && selector.Matches(labels.Set(pod.Labels)) && (set.Spec.Namespace == "" || set.Spec.Namespace == pod.Namespace)
	}
	for _, pod := range pods {
		found, err := SidecarSetsFor(reader, "sidecarsets", pod.Namespace, pod.Labels)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range sets {
			n := 0
			for _, f := range found {
				if f == set {
					n++
				}
			}
			if n > 1 || n == 0 && matches(set, pod) {
				t.Errorf("%s is found %d times for pod %s/%s", set.Name, n, pod.Namespace, pod.Name)
			}
		}
	}
	for _, set := range sets {
		found, err := PodsFor(reader, set)
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range pods {
			n := 0
			for _, f := range found {
				if f == pod {
					n++
				}
			}
			if n > 1 || n == 0 && matches(set, pod) {
				t.Errorf("pod %s/%s is found %d times for %s", pod.Namespace, pod.Name, n, set.Name)
			}
		}
	}
	for name, want := range map[string]string{"labels": "0 0 1 1", "other-labels": "2 2", "shop-labels": "0 1", "in": "0 0 1 1 2 2", "empty": "", "without": ""} {
		at := slices.IndexFunc(sets, func(s *v1alpha1.SidecarSet) bool { return s.Name == name })
		found, err := PodsFor(reader, sets[at])
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, pod := range found {
			got = append(got, strings.TrimPrefix(pod.Name, "pod-"))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: pods that are looked at (-want +got):\n%s", name, diff)
		}
	}
}

// BenchmarkSidecarSetsFor: 50,000 SidecarSets, of which one matches.
func BenchmarkSidecarSetsFor(b *testing.B) {
	var sets []*v1alpha1.SidecarSet
	for i := range 50000 {
		sets = append(sets, &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("set-", i)},
			Spec: v1alpha1.SidecarSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint("app-", i)}}}})
	}
	indexer, _ := sidecarIndexers(b, sets, nil)
	reader := Reader{"sidecarsets": indexer}
	of := map[string]string{"app": "app-7", "tier": "front", "team": "a", "zone": "z", "hash": "x"}
	b.ReportAllocs()
	for b.Loop() {
		if found, err := SidecarSetsFor(reader, "sidecarsets", "shop", of); err != nil || len(found) != 1 {
			b.Fatal(len(found), err)
		}
	}
}
