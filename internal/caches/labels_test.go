// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestLabelled(t *testing.T) {
	informer := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	for _, label := range []string{"app", "app", "tier"} { // a second user of a shared informer adds nothing
		if err := AddIndexes(informer, ByLabel(label)); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range []struct {
		name, namespace string
		labels          map[string]string
	}{
		{"web-0", "x", map[string]string{"app": "web"}},
		{"web-1", "x", map[string]string{"app": "web", "tier": "db"}},
		{"db-0", "x", map[string]string{"app": "db"}},
		{"empty", "x", map[string]string{"app": ""}},
		{"none", "x", nil},
		{"elsewhere", "y", map[string]string{"app": "web"}},
	} {
		object := owned(pod.name, pod.namespace)
		object.Labels = pod.labels
		if err := informer.GetIndexer().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	reader := Reader{Pods: informer.GetIndexer()}
	for _, test := range []struct {
		label, value string
		want         []string
	}{
		{"app", "web", []string{"web-0", "web-1"}},
		{"app", "", []string{"empty"}},
		{"tier", "db", []string{"web-1"}},
		{"tier", "web", nil},
	} {
		found, err := Labelled[*corev1.Pod](reader, Pods, "x", ByLabel(test.label), test.value)
		if diff := cmp.Diff(test.want, names(t, found, err)); diff != "" {
			t.Errorf("%s=%q (-want +got):\n%s", test.label, test.value, diff)
		}
	}
	if _, err := Labelled[*corev1.Node](reader, Pods, "x", ByLabel("app"), "web"); err == nil {
		t.Error("a cache of pods gives nodes")
	}
	if err := informer.GetIndexer().Add("text"); err == nil {
		t.Error("no error for what is no object")
	}
}
