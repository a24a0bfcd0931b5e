package controller

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// queue notes which workloads are enqueued.
type queue []string

func (q *queue) add(key types.NamespacedName) { *q = append(*q, key.String()) }

// take empties it.
func (q *queue) take() []string {
	taken := slices.Clone(*q)
	*q = nil
	return taken
}

func TestOfWorkloads(t *testing.T) {
	set := func(version string, edit func(*v1alpha1.CloneSet)) *v1alpha1.CloneSet {
		s := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Generation: 1, ResourceVersion: version}}
		edit(s)
		return s
	}
	same := func(*v1alpha1.CloneSet) {}
	status := func(s *v1alpha1.CloneSet) { s.Status.Replicas = 7 }
	before := set("1", same)
	var enqueued queue
	handler := OfWorkloads(enqueued.add, func(s *v1alpha1.CloneSet) any { return &s.Status },
		func(key types.NamespacedName, version string, status any) bool {
			return key.String() == "shop/web" && (version == "own" || status.(*v1alpha1.CloneSetStatus).Replicas == 8)
		})
	for _, test := range []struct {
		name   string
		change func()
		want   []string
	}{
		{"it appears", func() { handler.OnAdd(before, true) }, []string{"shop/web"}},
		{"its spec changes", func() { handler.OnUpdate(before, set("2", func(s *v1alpha1.CloneSet) { s.Generation = 2 })) }, []string{"shop/web"}},
		{"nothing changes", func() { handler.OnUpdate(before, set("2", same)) }, nil},
		{"the controller writes the status", func() { handler.OnUpdate(before, set("own", status)) }, nil},
		{"the controller's write is not answered yet", func() { handler.OnUpdate(before, set("2", func(s *v1alpha1.CloneSet) { s.Status.Replicas = 8 })) }, nil},
		{"somebody else writes the status", func() { handler.OnUpdate(before, set("2", status)) }, []string{"shop/web"}},
		{"it goes", func() { handler.OnDelete(before) }, []string{"shop/web"}},
		{"it is gone", func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web", Obj: before}) }, []string{"shop/web"}},
		{"what is no CloneSet", func() { handler.OnDelete("text") }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.change()
			if diff := cmp.Diff(test.want, enqueued.take()); diff != "" {
				t.Errorf("enqueued (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfOwned(t *testing.T) {
	pod := func(owners ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"}}
		for _, name := range owners {
			p.OwnerReferences = append(p.OwnerReferences,
				metav1.OwnerReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: name, UID: types.UID("uid-" + name)})
		}
		return p
	}
	labelled := pod("web")
	labelled.Labels = map[string]string{"a": "b"}
	recreated := pod("web")
	recreated.OwnerReferences[0].UID = "another"
	controlled := pod("web")
	controlled.OwnerReferences[0].Controller = new(true)
	var enqueued queue
	handler := OfOwned(enqueued.add, Owners(schema.GroupKind{Group: "apps.kruise.io", Kind: "CloneSet"}), PodChanged)
	for _, test := range []struct {
		name   string
		change func()
		want   []string
	}{
		{"it appears", func() { handler.OnAdd(pod("web"), false) }, []string{"shop/web"}},
		{"it is nobody's", func() { handler.OnAdd(pod(), false) }, nil},
		{"it has two owners", func() { handler.OnAdd(pod("web", "db"), false) }, []string{"shop/web", "shop/db"}},
		{"it changes in a way that matters", func() { handler.OnUpdate(pod("web"), labelled) }, []string{"shop/web"}},
		{"it changes in no way that matters", func() { handler.OnUpdate(pod("web"), pod("web")) }, nil},
		{"it is adopted", func() { handler.OnUpdate(pod(), pod("web")) }, []string{"shop/web"}},
		{"it is released", func() { handler.OnUpdate(pod("web"), pod()) }, []string{"shop/web"}},
		{"it passes over to another owner", func() { handler.OnUpdate(pod("web"), pod("db")) }, []string{"shop/web", "shop/db"}},
		{"its owner is another one of the name", func() { handler.OnUpdate(pod("web"), recreated) }, []string{"shop/web", "shop/web"}},
		{"its owner takes control", func() { handler.OnUpdate(pod("web"), controlled) }, []string{"shop/web", "shop/web"}},
		{"it goes", func() { handler.OnDelete(pod("web")) }, []string{"shop/web"}},
		{"it is gone", func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web-0", Obj: pod("web")}) }, []string{"shop/web"}},
		{"what is no pod", func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web-0"}) }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.change()
			if diff := cmp.Diff(test.want, enqueued.take()); diff != "" {
				t.Errorf("enqueued (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwners(t *testing.T) {
	of := Owners(schema.GroupKind{Group: "apps.kruise.io", Kind: "StatefulSet"})
	for _, test := range []struct {
		apiVersion, kind string
		want             bool
	}{
		{"apps.kruise.io/v1beta1", "StatefulSet", true},
		{"apps.kruise.io/v1alpha1", "StatefulSet", true},
		{"apps.kruise.io/v1beta1", "CloneSet", false},
		{"apps/v1", "StatefulSet", false},
		{"apps.kruise.io.example.com/v1", "StatefulSet", false},
		{"v1", "StatefulSet", false},
		{"", "StatefulSet", false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: test.apiVersion, Kind: test.kind, Name: "web"}}}}
		var want []types.NamespacedName
		if test.want {
			want = []types.NamespacedName{{Namespace: "shop", Name: "web"}}
		}
		if diff := cmp.Diff(want, of(pod)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.apiVersion, test.kind, diff)
		}
	}
}
