// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

func owned(name, namespace string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, OwnerReferences: owners}}
}

// reading is a Reader of an informer with both indexes.
func reading(t *testing.T, pods ...*corev1.Pod) Reader {
	t.Helper()
	informer := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	for range 2 { // a second user of a shared informer adds nothing
		if err := AddIndexes(informer, ByOwner, ByMember); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range pods {
		if err := informer.GetIndexer().Add(pod); err != nil {
			t.Fatal(err)
		}
	}
	return Reader{Pods: informer.GetIndexer()}
}

// TestIndexesAddedAtTheSameTime: controllers that start together share an informer.
func TestIndexesAddedAtTheSameTime(t *testing.T) {
	for range 500 {
		informer := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := AddIndexes(informer, ByOwner); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}

// names lists the pods found, sorted.
func names(t *testing.T, pods []*corev1.Pod, err error) (names []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}

func TestOwners(t *testing.T) {
	controller := func(uid types.UID) metav1.OwnerReference {
		return metav1.OwnerReference{UID: uid, Controller: ptr.To(true)}
	}
	owner := func(uid types.UID) metav1.OwnerReference { return metav1.OwnerReference{UID: uid} }
	pods := []*corev1.Pod{
		owned("controlled", "x", controller("1")),
		owned("owned", "x", owner("2"), owner("1")),
		owned("controlled-by-another", "x", controller("2")),
		owned("owned-and-controlled-by-another", "x", controller("2"), owner("1")),
		owned("kept-by-another", "x", owner("2")),
		owned("nobodys", "x"),
		owned("elsewhere", "y"),
	}
	for _, pod := range pods {
		pod.Labels = map[string]string{"app": "web"}
	}
	other := owned("not-selected", "x")
	pods = append(pods, other)
	in := reading(t, pods...)
	selector := labels.SelectorFromSet(labels.Set{"app": "web"})

	found, err := OwnedBy[*corev1.Pod](in, Pods, "x", "1")
	if diff := cmp.Diff([]string{"controlled", "owned", "owned-and-controlled-by-another"}, names(t, found, err)); diff != "" {
		t.Errorf("owned by 1 (-want +got):\n%s", diff)
	}
	found, err = ControlledBy[*corev1.Pod](in, Pods, "x", "1")
	if diff := cmp.Diff([]string{"controlled"}, names(t, found, err)); diff != "" {
		t.Errorf("controlled by 1 (-want +got):\n%s", diff)
	}
	found, err = OwnedBy[*corev1.Pod](in, Pods, "x", "3")
	if diff := cmp.Diff([]string(nil), names(t, found, err)); diff != "" {
		t.Errorf("owned by 3 (-want +got):\n%s", diff)
	}
	want := []string{"controlled", "kept-by-another", "nobodys", "owned"}
	found, err = ControlledOrOrphaned[*corev1.Pod](in, Pods, "x", "1", selector)
	if diff := cmp.Diff(want, names(t, found, err)); diff != "" {
		t.Errorf("controlled by 1 or orphaned, each once (-want +got):\n%s", diff)
	}
	found, err = ControlledOrOrphaned[*corev1.Pod](in, Pods, "x", "1", labels.Nothing())
	if diff := cmp.Diff([]string{"controlled"}, names(t, found, err)); diff != "" {
		t.Errorf("with a selector of nothing (-want +got):\n%s", diff)
	}
	for _, pod := range pods {
		if pod.Namespace == "x" && IsControlledOrOrphaned(pod, "1", selector) != slices.Contains(want, pod.Name) {
			t.Errorf("whether %s is found and whether it says so differ", pod.Name)
		}
	}
}

func TestMembers(t *testing.T) {
	in := reading(t, owned("web-0", "x"), owned("web-10", "x", metav1.OwnerReference{UID: "1"}), owned("web-01", "x"), owned("web-x7k2p", "x"),
		owned("data-web-0", "x"), owned("web", "x"), owned("web-3", "y"), owned("web-2147483648", "x"), owned("web-1-2", "x"))
	for parent, want := range map[string][]string{
		"web": {"web-0", "web-10"}, "data-web": {"data-web-0"}, "web-1": {"web-1-2"}, "db": nil,
	} {
		found, err := Members[*corev1.Pod](in, Pods, "x", parent)
		if diff := cmp.Diff(want, names(t, found, err)); diff != "" {
			t.Errorf("members of %s (-want +got):\n%s", parent, diff)
		}
	}
}

func TestIndexErrors(t *testing.T) {
	in := reading(t, owned("web-0", "x", metav1.OwnerReference{UID: "1"}))
	if _, err := OwnedBy[*corev1.Node](in, Pods, "x", "1"); err == nil {
		t.Error("a cache of pods gives nodes")
	}
	if _, err := Members[*corev1.Node](in, Pods, "x", "web"); err == nil {
		t.Error("a cache of pods gives nodes")
	}
	bare := Reader{Pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	if _, err := ControlledOrOrphaned[*corev1.Pod](bare, Pods, "x", "1", labels.Everything()); err == nil {
		t.Error("no error without an index")
	}
	for _, keys := range []cache.IndexFunc{ownerUIDs, parents} {
		if _, err := keys("text"); err == nil {
			t.Error("no error for what is no object")
		}
	}
}
