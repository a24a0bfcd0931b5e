// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
)

func owned(name, namespace string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, OwnerReferences: owners}}
}

// reading is a Reader of an informer with indexes, which a second user of the informer has added too.
func reading[T runtime.Object](t testing.TB, resource podwright.Resource, indexes []podwright.Index, objects ...T) Reader {
	t.Helper()
	var example T
	informer := cache.NewSharedIndexInformer(nil, example, 0, cache.Indexers{})
	for range 2 {
		if err := AddIndexes(informer, indexes...); err != nil {
			t.Fatal(err)
		}
	}
	for _, object := range objects {
		if err := informer.GetIndexer().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	return Reader{resource: informer.GetIndexer()}
}

// ownersAndMembers are both indexes by what pods belong to.
var ownersAndMembers = []podwright.Index{ByOwner, ByMember}

// names lists what was found, sorted.
func names[T metav1.Object](t *testing.T, found []T, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range found {
		names = append(names, object.GetName())
	}
	slices.Sort(names)
	return strings.Join(names, " ")
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
	pods = append(pods, owned("not-selected", "x"))
	in := reading(t, Pods, ownersAndMembers, pods...)
	selector := labels.SelectorFromSet(labels.Set{"app": "web"})
	const want = "controlled kept-by-another nobodys owned"
	for _, test := range []struct {
		name string
		find func() ([]*corev1.Pod, error)
		want string
	}{
		{"owned by 1", func() ([]*corev1.Pod, error) { return OwnedBy[*corev1.Pod](in, Pods, "x", "1") }, "controlled owned owned-and-controlled-by-another"},
		{"controlled by 1", func() ([]*corev1.Pod, error) { return ControlledBy[*corev1.Pod](in, Pods, "x", "1") }, "controlled"},
		{"owned by 3", func() ([]*corev1.Pod, error) { return OwnedBy[*corev1.Pod](in, Pods, "x", "3") }, ""},
		{"controlled by 1 or orphaned, each once", func() ([]*corev1.Pod, error) {
			return ControlledOrOrphaned[*corev1.Pod](in, Pods, "x", "1", selector)
		}, want},
		{"with a selector of nothing", func() ([]*corev1.Pod, error) {
			return ControlledOrOrphaned[*corev1.Pod](in, Pods, "x", "1", labels.Nothing())
		}, "controlled"},
	} {
		found, err := test.find()
		if got := names(t, found, err); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	for _, pod := range pods {
		if pod.Namespace == "x" && IsControlledOrOrphaned(pod, "1", selector) != slices.Contains(strings.Fields(want), pod.Name) {
			t.Errorf("whether %s is found and whether it says so differ", pod.Name)
		}
	}
}

func TestMembers(t *testing.T) {
	in := reading(t, Pods, ownersAndMembers, owned("web-0", "x"), owned("web-10", "x", metav1.OwnerReference{UID: "1"}), owned("web-01", "x"), owned("web-x7k2p", "x"),
		owned("data-web-0", "x"), owned("web", "x"), owned("web-3", "y"), owned("web-2147483648", "x"), owned("web-1-2", "x"))
	for parent, want := range map[string]string{"web": "web-0 web-10", "data-web": "data-web-0", "web-1": "web-1-2", "db": ""} {
		found, err := Members[*corev1.Pod](in, Pods, "x", parent)
		if got := names(t, found, err); got != want {
			t.Errorf("members of %s: %s, want %s", parent, got, want)
		}
	}
}

func TestLabelled(t *testing.T) {
	labelled := func(name, namespace string, labels map[string]string) *corev1.Pod {
		pod := owned(name, namespace)
		pod.Labels = labels
		return pod
	}
	reader := reading(t, Pods, []podwright.Index{ByLabel("app"), ByLabel("tier")},
		labelled("web-0", "x", map[string]string{"app": "web"}),
		labelled("web-1", "x", map[string]string{"app": "web", "tier": "db"}),
		labelled("db-0", "x", map[string]string{"app": "db"}),
		labelled("empty", "x", map[string]string{"app": ""}),
		labelled("none", "x", nil),
		labelled("elsewhere", "y", map[string]string{"app": "web"}))
	for _, test := range []struct{ label, value, want string }{
		{"app", "web", "web-0 web-1"}, {"app", "", "empty"}, {"tier", "db", "web-1"}, {"tier", "web", ""},
	} {
		found, err := Labelled[*corev1.Pod](reader, Pods, "x", ByLabel(test.label), test.value)
		if got := names(t, found, err); got != test.want {
			t.Errorf("%s=%q: %s, want %s", test.label, test.value, got, test.want)
		}
	}
	if _, err := Labelled[*corev1.Node](reader, Pods, "x", ByLabel("app"), "web"); err == nil {
		t.Error("a cache of pods gives nodes")
	}
}

func TestIndexErrors(t *testing.T) {
	in := reading(t, Pods, ownersAndMembers, owned("web-0", "x", metav1.OwnerReference{UID: "1"}))
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
	for _, keys := range []cache.IndexFunc{ownerUIDs, parents, ByLabel("app").Keys} {
		if _, err := keys("text"); err == nil {
			t.Error("no error for what is no object")
		}
	}
}
