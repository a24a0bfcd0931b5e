// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
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

// TestEvents shows which keys the events in testdata/events.txt enqueue. The lines that follow change the object that comes, or goes.
//
//	itself add|update|delete|gone [version=own]
//	                            a CloneSet; its controller has written the version own, and statuses of 8 replicas
//	owned add|update|… [before=(web,db)] [after=web]
//	                            a pod with these owners, web if none is said; the name or the kind of an owner tells whom it concerns
//	owned unknown, itself text  a pod is gone of which nothing is known; and what is no object
func TestEvents(t *testing.T) {
	wrote := func(key types.NamespacedName, version string, status any) bool {
		return key.String() == "shop/web" && (version == "own" || status.(*v1alpha1.CloneSetStatus).Replicas == 8)
	}
	byName := EachOf(func(pod metav1.Object) (keys []types.NamespacedName) {
		for _, owner := range pod.GetOwnerReferences() {
			if groupKind(&owner) == cloneSets {
				keys = append(keys, types.NamespacedName{Namespace: "shop", Name: owner.Name})
			}
		}
		return keys
	})
	reads := map[string][]Read{"itself": {{Fields: Workload, IsReconciled: true}}, "owned": {{Fields: Labels, owner: cloneSets}, {Fields: Labels | Owners, Concern: byName}}}
	datadriven.RunTest(t, "testdata/events.txt", func(t *testing.T, d *datadriven.TestData) string {
		var shown []string
		for i, read := range reads[d.Cmd] {
			var enqueued queue
			before, after := eventObject(t, d, "before", ""), eventObject(t, d, "after", d.Input)
			switch handler := enqueued.handler(read, wrote); d.CmdArgs[0].Key {
			case "add":
				handler.OnAdd(after, false)
			case "initial":
				handler.OnAdd(after, true)
			case "update":
				handler.OnUpdate(before, after)
			case "delete":
				handler.OnDelete(after)
			case "gone":
				handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web", Obj: after})
			case "unknown":
				handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "shop/web"})
			case "text":
				handler.OnDelete("text")
				handler.OnAdd("text", false)
				handler.OnUpdate("text", "text")
			}
			got := enqueued.take()
			if i > 0 && !slices.Equal(got, shown) {
				t.Errorf("%s: by name %v, by owner %v", d.Pos, got, shown)
			}
			shown = got
		}
		return fmt.Sprintln(shown)
	})
}

// eventObject is an object before or after an event.
func eventObject(t *testing.T, d *datadriven.TestData, when, lines string) metav1.Object {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0"}}
	set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u", Generation: 1, ResourceVersion: "2"}}
	owners := []string{"web"}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case when:
			owners = slices.DeleteFunc(slices.Clone(arg.Vals), func(name string) bool { return name == "" })
		case "version":
			set.ResourceVersion = arg.Vals[0]
		}
	}
	for _, name := range owners {
		pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: name, UID: types.UID("uid-" + name)})
	}
	var object metav1.Object = pod
	if d.Cmd == "itself" {
		object = set
	}
	if err := yaml.Unmarshal([]byte(lines), object); err != nil {
		t.Fatal(err)
	}
	return object
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
		b := &fixture.Bubble{T: t}
		defer b.Stop()
		b.Go(fixture.Informing(informer))
		add(2)
		synctest.Wait()
		source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1"}})
		synctest.Wait()
		for i := range queues {
			if diff := cmp.Diff([]string{"shop/web-0", "shop/web-1"}, queues[i].take()); diff != "" {
				t.Errorf("subscription %d (-want +got):\n%s", i, diff)
			}
		}
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
