// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
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
			{Resource: caches.Nodes, Informer: &nodes, Make: func() cache.SharedIndexInformer { t.Error("it is shared"); return nil }},
			{Resource: caches.Pods, Live: apiwriter.Resource{}, Informer: &pods, Make: func() cache.SharedIndexInformer {
				return cache.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
			}, Index: func(i cache.SharedIndexInformer) error {
				return i.AddIndexers(cache.Indexers{"test": func(any) ([]string, error) { return []string{"found"}, nil }})
			}},
		}
		sources, err := Open("test", nil, func() []Read { return reads })
		if err != nil || nodes != shared || pods == nil {
			t.Fatalf("error %v, nodes %v, pods %v", err, nodes, pods)
		}
		first, second := sources.Loop(Config{Name: "test"}), sources.Loop(Config{Name: "test"})
		defer first.queue.ShutDown()
		defer second.queue.ShutDown()
		if len(first.Informers) != 1 || first.Informers[0] != pods || len(second.Informers) > 0 || len(second.Synced) != 2 {
			t.Errorf("the first loop runs %v, the second %v, which waits for %d", first.Informers, second.Informers, len(second.Synced))
		}
		reader := Caches(reads)
		if len(reader) != 2 || reader[caches.Pods] != pods.GetIndexer() || reader[caches.Nodes] != nodes.GetIndexer() {
			t.Errorf("caches %v, want those of nodes and pods", reader)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go pods.RunWithContext(ctx)
		synctest.Wait()
		found, err := pods.GetIndexer().ByIndex("test", "found")
		if err != nil || len(found) != 1 || found[0].(*corev1.Pod).ManagedFields != nil {
			t.Errorf("error %v, the cache holds %v, want one pod that is trimmed", err, found)
		}
	})
}

func TestOpenFails(t *testing.T) {
	pods := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
	failure := errors.New("failure")
	open := func(invalid error, read Read) error {
		_, err := Open("test", invalid, func() []Read { return []Read{read} })
		return err
	}
	if _, err := Open("test", failure, nil); !errors.Is(err, failure) { // which read nothing
		t.Errorf("error %v, want that of the options", err)
	}
	if err := open(nil, Read{Informer: &pods, Index: func(cache.SharedIndexInformer) error { return failure }}); !errors.Is(err, failure) {
		t.Errorf("error %v, want that of the index", err)
	}
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.AtomicFIFO, false)
	if err := open(nil, Read{Resource: caches.Pods, Informer: &pods}); err != nil {
		t.Errorf("a kind that waits for no cache: %v", err)
	}
	if err := open(nil, Read{Resource: caches.Pods, Live: apiwriter.Resource{}, Informer: &pods}); err == nil || !strings.Contains(err.Error(), "AtomicFIFO") {
		t.Errorf("error %v, want one that names the feature", err)
	}
}
