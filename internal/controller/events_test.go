// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var cloneSets = schema.GroupKind{Group: "apps.kruise.io", Kind: "CloneSet"}

type queue []string

func (q *queue) add(key types.NamespacedName) { *q = append(*q, key.String()) }

func (q *queue) take() []string {
	taken := slices.Clone(*q)
	*q = nil
	return taken
}

// handler returns the handler of a read, which fills the queue.
func (q *queue) handler(read Read, wrote wroteStatus) *dispatcher {
	if read.IsReconciled {
		read.Concern = itself(wrote)
	}
	d := &dispatcher{}
	d.add(&subscription{fields: read.Fields | identity, owner: read.owner, concern: read.Concern, enqueue: q.add, initial: q.add})
	return d
}

func TestEventsOfItself(t *testing.T) {
	set := func(version string, edit func(*v1alpha1.CloneSet)) *v1alpha1.CloneSet {
		s := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Generation: 1, ResourceVersion: version}}
		edit(s)
		return s
	}
	same := func(*v1alpha1.CloneSet) {}
	status := func(s *v1alpha1.CloneSet) { s.Status.Replicas = 7 }
	before := set("1", same)
	var enqueued queue
	handler := enqueued.handler(Read{Fields: Workload, IsReconciled: true}, func(key types.NamespacedName, version string, status any) bool {
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
		{"what is not declared changes", func() {
			handler.OnUpdate(before, set("2", func(s *v1alpha1.CloneSet) { s.Finalizers = []string{"a/b"} }))
		}, nil},
		{"the controller writes the status", func() { handler.OnUpdate(before, set("own", status)) }, nil},
		{"the controller's write comes with a new label", func() {
			handler.OnUpdate(before, set("own", func(s *v1alpha1.CloneSet) { status(s); s.Labels = map[string]string{"a": "b"} }))
		}, []string{"shop/web"}},
		{"the controller's write is not answered yet", func() { handler.OnUpdate(before, set("2", func(s *v1alpha1.CloneSet) { s.Status.Replicas = 8 })) }, nil},
		{"somebody else writes the status", func() { handler.OnUpdate(before, set("2", status)) }, []string{"shop/web"}},
		{"it goes", func() { handler.OnDelete(before) }, []string{"shop/web"}},
		{"it is gone", func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web", Obj: before}) }, []string{"shop/web"}},
		{"what is no object", func() { handler.OnDelete("text"); handler.OnAdd("text", false); handler.OnUpdate("text", "text") }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.change()
			if diff := cmp.Diff(test.want, enqueued.take()); diff != "" {
				t.Errorf("enqueued (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsOfOwned(t *testing.T) {
	pod := func(owners ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"}}
		for _, name := range owners {
			p.OwnerReferences = append(p.OwnerReferences,
				metav1.OwnerReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: name, UID: types.UID("uid-" + name)})
		}
		return p
	}
	edited := func(edit func(*corev1.Pod)) *corev1.Pod {
		p := pod("web")
		edit(p)
		return p
	}
	labelled := edited(func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} })
	recreated := edited(func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another" })
	controlled := edited(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = new(true) })
	otherVersion := edited(func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "apps.kruise.io/v1beta1" })
	otherKind := edited(func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "StatefulSet" })
	otherGroup := edited(func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "apps.kruise.io.example.com/v1" })
	core := edited(func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "v1" })
	for name, read := range map[string]Read{
		"by owner": {Fields: Labels, owner: cloneSets},
		"by name": {Fields: Labels | Owners, Concern: EachOf(func(pod metav1.Object) (keys []types.NamespacedName) {
			for _, owner := range pod.GetOwnerReferences() {
				if groupKind(&owner) == cloneSets {
					keys = append(keys, types.NamespacedName{Namespace: "shop", Name: owner.Name})
				}
			}
			return keys
		})},
	} {
		var enqueued queue
		handler := enqueued.handler(read, nil)
		for _, test := range []struct {
			name   string
			change func()
			want   []string
		}{
			{"it appears", func() { handler.OnAdd(pod("web"), false) }, []string{"shop/web"}},
			{"it is nobody's", func() { handler.OnAdd(pod(), false) }, nil},
			{"it has two owners", func() { handler.OnAdd(pod("web", "db"), false) }, []string{"shop/web", "shop/db"}},
			{"its owner is named in another version", func() { handler.OnAdd(otherVersion, false) }, []string{"shop/web"}},
			{"its owner is of another kind", func() { handler.OnAdd(otherKind, false) }, nil},
			{"its owner is of another group", func() { handler.OnAdd(otherGroup, false) }, nil},
			{"its owner is of the core group", func() { handler.OnAdd(core, false) }, nil},
			{"a declared field changes", func() { handler.OnUpdate(pod("web"), labelled) }, []string{"shop/web"}},
			{"nothing changes", func() { handler.OnUpdate(pod("web"), pod("web")) }, nil},
			{"another field changes", func() { handler.OnUpdate(pod("web"), edited(func(p *corev1.Pod) { p.Status.Phase = "Running" })) }, nil},
			{"it is adopted", func() { handler.OnUpdate(pod(), pod("web")) }, []string{"shop/web"}},
			{"it is released", func() { handler.OnUpdate(pod("web"), pod()) }, []string{"shop/web"}},
			{"it passes over to another owner", func() { handler.OnUpdate(pod("web"), pod("db")) }, []string{"shop/web", "shop/db"}},
			{"its owner is another one of the name", func() { handler.OnUpdate(pod("web"), recreated) }, []string{"shop/web", "shop/web"}},
			{"its owner takes control", func() { handler.OnUpdate(pod("web"), controlled) }, []string{"shop/web", "shop/web"}},
			{"it goes", func() { handler.OnDelete(pod("web")) }, []string{"shop/web"}},
			{"it is gone", func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web-0", Obj: pod("web")}) }, []string{"shop/web"}},
			{"nothing is known of it", func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web-0"}) }, nil},
		} {
			t.Run(name+": "+test.name, func(t *testing.T) {
				test.change()
				if diff := cmp.Diff(test.want, enqueued.take()); diff != "" {
					t.Errorf("enqueued (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A kind hears of the fields that it declares, whatever others declare.
func TestEventsOfSeveralKinds(t *testing.T) {
	var labels, phases, later queue
	d := &dispatcher{}
	for _, s := range []*subscription{
		{fields: Labels | identity, concern: itself(nil), enqueue: labels.add, initial: labels.add},
		{fields: Phase | identity, concern: itself(nil), enqueue: phases.add, initial: phases.add},
		{fields: Phase | identity, owner: cloneSets, enqueue: later.add},
	} {
		if !d.add(s) {
			t.Fatal("a handler that has heard of nothing takes no subscription")
		}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"}}}}
	running, labelled := pod.DeepCopy(), pod.DeepCopy()
	running.Status.Phase = corev1.PodRunning
	labelled.Labels = map[string]string{"a": "b"}
	for _, test := range []struct {
		name                  string
		change                func()
		labels, phases, later int
	}{
		{"it was there at the start", func() { d.OnAdd(pod, true) }, 1, 1, 0},
		{"it appears", func() { d.OnAdd(pod, false) }, 1, 1, 1},
		{"it runs", func() { d.OnUpdate(pod, running) }, 0, 1, 1},
		{"it is labelled", func() { d.OnUpdate(pod, labelled) }, 1, 0, 0},
		{"nothing changes", func() { d.OnUpdate(pod, pod.DeepCopy()) }, 0, 0, 0},
		{"it goes", func() { d.OnDelete(pod) }, 1, 1, 1},
	} {
		test.change()
		if l, p, o := len(labels.take()), len(phases.take()), len(later.take()); l != test.labels || p != test.phases || o != test.later {
			t.Errorf("%s: enqueued %d, %d and %d, want %d, %d and %d", test.name, l, p, o, test.labels, test.phases, test.later)
		}
	}
}

// Kinds that subscribe to one informer, without knowing each other, share one
// handler; one that comes late hears of everything all the same.
func TestSubscribersShareAHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := fcache.NewFakeControllerSource()
		defer source.Shutdown()
		source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"}})
		informer := &counting{SharedIndexInformer: cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})}
		var queues [3]queue
		add := func(i int) {
			t.Helper()
			s := &subscription{fields: Labels | identity, concern: itself(nil), enqueue: queues[i].add, initial: queues[i].add}
			if _, err := subscribe(informer, s); err != nil {
				t.Fatal(err)
			}
		}
		add(0)
		add(1)
		if informer.handlers != 1 {
			t.Errorf("two subscriptions make %d handlers", informer.handlers)
		}
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() { defer close(done); informer.Run(stop) }()
		synctest.Wait()
		add(2)
		synctest.Wait()
		source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1"}})
		synctest.Wait()
		for i := range queues {
			if diff := cmp.Diff([]string{"shop/web-0", "shop/web-1"}, queues[i].take()); diff != "" {
				t.Errorf("subscription %d (-want +got):\n%s", i, diff)
			}
		}
		close(stop)
		<-done
	})
}

// counting counts the handlers that are added.
type counting struct {
	cache.SharedIndexInformer
	handlers int
}

func (c *counting) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	c.handlers++
	return c.SharedIndexInformer.AddEventHandler(h)
}

// BenchmarkPodEvent measures what an event of a pod costs, by the number of
// controllers of pods that have nothing to do about it.
func BenchmarkPodEvent(b *testing.B) {
	pod := runningPod()
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "uid"}}
	heartbeat := pod.DeepCopy()
	heartbeat.Status.Conditions[0].LastProbeTime = metav1.Now()
	ready := pod.DeepCopy()
	ready.Status.Conditions[0].Status = corev1.ConditionFalse
	for _, idle := range []int{0, 10} {
		d := &dispatcher{}
		d.add(&subscription{fields: workloadPods | identity, owner: cloneSets, enqueue: func(types.NamespacedName) {}})
		for i := range idle {
			d.add(&subscription{fields: workloadPods | identity, owner: schema.GroupKind{Group: "example.com", Kind: fmt.Sprint("Idle", i)},
				enqueue: func(types.NamespacedName) { b.Error("an idle controller is asked") }})
		}
		for name, after := range map[string]*corev1.Pod{"heartbeat": heartbeat, "readiness": ready} {
			b.Run(fmt.Sprintf("%s/idle=%d", name, idle), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					d.OnUpdate(pod, after)
				}
			})
		}
	}
}

// Controllers that start together subscribe to an informer that they share, and add indexes to it.
func TestSubscribedAtTheSameTime(t *testing.T) {
	for range 300 {
		source := fcache.NewFakeControllerSource()
		informer := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
		var events [4]atomic.Int32
		var all sync.WaitGroup
		for i := range events {
			all.Go(func() {
				if err := caches.AddIndexes(informer, caches.ByOwner); err != nil {
					t.Error(err)
				}
				if _, err := subscribe(informer, &subscription{fields: Labels, enqueue: func(types.NamespacedName) {},
					concern: func(Event, Enqueue) { events[i].Add(1) }}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		shared, err := dispatcherOf(informer, nil)
		if err != nil {
			t.Fatal(err)
		}
		shared.OnAdd(&corev1.Pod{}, false)
		for i := range events {
			if n := events[i].Load(); n != 1 {
				t.Errorf("subscriber %d of one handler was told of %d events, want 1", i, n)
			}
		}
		if t.Failed() {
			return
		}
	}
}
