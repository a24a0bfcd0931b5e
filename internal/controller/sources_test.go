// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Informers that the user shares are used; the others are made, and trimmed.
func TestOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := fcache.NewFakeControllerSource()
		defer source.Shutdown()
		source.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}}})
		shared := cache.NewSharedIndexInformer(nil, &corev1.Node{}, 0, cache.Indexers{})
		nodes := shared
		var pods cache.SharedIndexInformer
		reads := []Read{
			{Resource: caches.Nodes, Informer: &nodes, MakeInformer: func() cache.SharedIndexInformer { t.Error("it is shared"); return nil }},
			{Resource: caches.Pods, LiveReader: apiwriter.Resource{}, Informer: &pods, MakeInformer: func() cache.SharedIndexInformer {
				return cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
			}, Indexes: []podwright.Index{{Name: "test", Keys: func(any) ([]string, error) { return []string{"found"}, nil }}}},
		}
		sources, err := Open("test", reads)
		if err != nil || nodes != shared || pods == nil {
			t.Fatalf("error %v, nodes %v, pods %v", err, nodes, pods)
		}
		first, second := sources.Filling("test", 0), sources.Filling("test", 0)
		if len(first.informers) != 1 || first.informers[0] != pods || len(second.informers) > 0 || len(second.waits) != 2 {
			t.Errorf("the first runs %v, the second %v, which waits for %d", first.informers, second.informers, len(second.waits))
		}
		reader := sources.Caches()
		if len(reader) != 2 || reader[caches.Pods] != pods.GetIndexer() || reader[caches.Nodes] != nodes.GetIndexer() {
			t.Errorf("caches %v, want those of nodes and pods", reader)
		}
		b := &fixture.Bubble{T: t}
		defer b.Stop()
		b.Go(fixture.Informing(pods))
		found, err := pods.GetIndexer().ByIndex("test", "found")
		if err != nil || len(found) != 1 || found[0].(*corev1.Pod).ManagedFields != nil {
			t.Errorf("error %v, the cache holds %v, want one pod that is trimmed", err, found)
		}
	})
}

// Options.Informers is asked for what the options do not name, unless that is a selection.
func TestShare(t *testing.T) {
	named := cache.NewSharedIndexInformer(nil, &corev1.Node{}, 0, cache.Indexers{})
	theirs := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	nodes, pods, some, claims := named, cache.SharedIndexInformer(nil), cache.SharedIndexInformer(nil), cache.SharedIndexInformer(nil)
	reads := []Read{{Resource: caches.Nodes, Object: &corev1.Node{}, Informer: &nodes}, {Resource: caches.Pods, Object: &corev1.Pod{}, Informer: &pods},
		{Resource: caches.Pods, Object: &corev1.Pod{}, Informer: &some, IsPartial: true}, {Resource: caches.Claims, Object: &corev1.PersistentVolumeClaim{}, Informer: &claims}}
	err := share("test", reads, func(object runtime.Object) (cache.SharedIndexInformer, error) {
		if _, ok := object.(*corev1.Pod); ok {
			return theirs, nil
		}
		return nil, nil
	})
	if err != nil || nodes != named || pods != theirs || some != nil || claims != nil {
		t.Errorf("error %v, nodes %v, pods %v, some of them %v, claims %v", err, nodes, pods, some, claims)
	}
	err = share("test", reads, func(runtime.Object) (cache.SharedIndexInformer, error) { return nil, errors.New("failure") })
	if err == nil || err.Error() != "test: Options.Informers: persistentvolumeclaims: failure" {
		t.Errorf("error %v, want one that names the resource", err)
	}
	if err := share("test", reads, nil); err != nil || claims != nil {
		t.Errorf("without the option: error %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	pods := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	open := func(read Read) error {
		_, err := Open("test", []Read{read})
		return err
	}
	source := fcache.NewFakeControllerSource()
	defer source.Shutdown()
	stopped, ended := cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{}), make(chan struct{})
	close(ended)
	stopped.Run(ended)
	if err := open(Read{Informer: &stopped, Indexes: []podwright.Index{caches.ByOwner}}); err == nil || !strings.Contains(err.Error(), "test: add the index podwright.ownerUID") {
		t.Errorf("error %v, want one that names the index", err)
	}
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.AtomicFIFO, false)
	if err := open(Read{Resource: caches.Pods, Informer: &pods}); err != nil {
		t.Errorf("a kind that waits for no cache: %v", err)
	}
	if err := open(Read{Resource: caches.Pods, LiveReader: apiwriter.Resource{}, Informer: &pods}); err == nil || !strings.Contains(err.Error(), "AtomicFIFO") {
		t.Errorf("error %v, want one that names the feature", err)
	}
}

// Events of pods cost nothing for a kind of which there are no objects, and are not missed by one that appears or that goes.
func TestKindThatNobodyUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sets, pods := fcache.NewFakeControllerSource(), fcache.NewFakeControllerSource()
		defer sets.Shutdown()
		defer pods.Shutdown()
		ofSets := cache.NewSharedIndexInformer(sets, &v1alpha1.CloneSet{}, 0, cache.Indexers{})
		ofPods := cache.NewSharedIndexInformer(pods, &corev1.Pod{}, 0, cache.Indexers{})
		asked := 0
		reads := []Read{
			{Resource: "clonesets", Informer: &ofSets, Fields: Workload, IsReconciled: true},
			{Resource: caches.Pods, Informer: &ofPods, Fields: Labels, ConcernsKnown: true, Concern: func(e Event, enqueue Enqueue) {
				asked++
				enqueue(types.NamespacedName{Namespace: "shop", Name: "web"})
			}},
		}
		sources, err := Open("test", reads)
		if err != nil {
			t.Fatal(err)
		}
		var enqueued queue
		if err := sources.subscribe(enqueues{now: enqueued.add, initial: enqueued.add}, nil); err != nil {
			t.Fatal(err)
		}
		b := &fixture.Bubble{T: t}
		defer b.Stop()
		b.Go(fixture.Informing(ofSets), fixture.Informing(ofPods))
		set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
		pod := func(name string) *corev1.Pod {
			return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		}
		for _, step := range []struct {
			name     string
			change   func()
			asked    int
			enqueued []string
		}{
			{"a pod, and no set", func() { pods.Add(pod("web-0")) }, 0, nil},
			{"a set appears", func() { sets.Add(set) }, 0, []string{"shop/web"}},
			{"a pod of the set", func() { pods.Add(pod("web-1")) }, 1, []string{"shop/web"}},
			{"the set changes", func() { changed := set.DeepCopy(); changed.Generation = 2; sets.Modify(changed) }, 0, []string{"shop/web"}},
			{"a pod goes", func() { pods.Delete(pod("web-1")) }, 1, []string{"shop/web"}},
			{"the set goes", func() { sets.Delete(set) }, 0, []string{"shop/web"}},
			{"a pod goes that nobody owns any more", func() { pods.Delete(pod("web-0")) }, 0, nil},
		} {
			asked = 0
			step.change()
			synctest.Wait()
			if got := enqueued.take(); asked != step.asked || !slices.Equal(got, step.enqueued) {
				t.Errorf("%s: asked %d times, enqueued %v, want %d and %v", step.name, asked, got, step.asked, step.enqueued)
			}
		}
	})
}
