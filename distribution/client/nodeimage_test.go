// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

func nodeImage(name, zone string) *v1alpha1.NodeImage {
	return &v1alpha1.NodeImage{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "NodeImage"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}},
		Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{
			"nginx": {Tags: []v1alpha1.ImageTagSpec{{Tag: "2"}}},
		}},
	}
}

func TestNodeImageRequests(t *testing.T) {
	const base = "/apis/apps.kruise.io/v1alpha1/nodeimages"
	const jsonType = "application/json"
	ctx := context.Background()
	object := nodeImage("node-1", "a")
	encoded := `{"kind":"NodeImage","apiVersion":"apps.kruise.io/v1alpha1","metadata":{"name":"node-1","labels":{"zone":"a"}},` +
		`"spec":{"images":{"nginx":{"tags":[{"tag":"2"}]}}},"status":{"desired":0}}` + "\n"
	for _, test := range []struct {
		name string
		call func(client.NodeImageInterface) error
		want request
	}{
		{"create", func(c client.NodeImageInterface) error {
			_, err := c.Create(ctx, object, metav1.CreateOptions{})
			return err
		}, request{"POST", base, "", jsonType, encoded}},
		{"update", func(c client.NodeImageInterface) error {
			_, err := c.Update(ctx, object, metav1.UpdateOptions{})
			return err
		}, request{"PUT", base + "/node-1", "", jsonType, encoded}},
		{"update the status", func(c client.NodeImageInterface) error {
			_, err := c.UpdateStatus(ctx, object, metav1.UpdateOptions{})
			return err
		}, request{"PUT", base + "/node-1/status", "", jsonType, encoded}},
		{"merge patch", func(c client.NodeImageInterface) error {
			_, err := c.Patch(ctx, "node-1", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
			return err
		}, request{"PATCH", base + "/node-1", "", "application/merge-patch+json", "{}"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, got := serve(t, object)
			if err := test.call(c.NodeImages()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodeImageInformer(t *testing.T) {
	c := fake.NewClient(nodeImage("node-1", "a"), nodeImage("node-2", "b"))
	for _, test := range []struct {
		name     string
		informer cache.SharedIndexInformer
		want     []string
	}{
		{"everything", client.NewNodeImageInformer(c, 0, nil), []string{"node-1", "node-2"}},
		{"by label", client.NewFilteredNodeImageInformer(c, 0, nil, func(options *metav1.ListOptions) {
			options.LabelSelector = "zone=b"
		}), []string{"node-2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run(t, test.informer)
			if diff := cmp.Diff(test.want, slices.Sorted(slices.Values(test.informer.GetStore().ListKeys()))); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

// The agent of a node lists and watches one object.
func TestFilterIsForListsAndWatches(t *testing.T) {
	c := fake.NewClient()
	watched := make(chan clienttesting.WatchAction, 1)
	c.PrependWatchReactor("nodeimages", func(action clienttesting.Action) (bool, watch.Interface, error) {
		watched <- action.(clienttesting.WatchAction)
		return false, nil, nil
	})
	run(t, client.NewFilteredNodeImageInformer(c, 0, nil, func(options *metav1.ListOptions) {
		options.FieldSelector = "metadata.name=node-1"
	}))

	var got []string
	select {
	case action := <-watched:
		got = append(got, action.GetWatchRestrictions().Fields.String())
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was watched")
	}
	for _, action := range c.Actions() {
		if list, ok := action.(clienttesting.ListAction); ok {
			got = append(got, list.GetListRestrictions().Fields.String())
		}
	}
	if diff := cmp.Diff([]string{"metadata.name=node-1", "metadata.name=node-1"}, got); diff != "" {
		t.Errorf("field selectors (-want +got):\n%s", diff)
	}
}

// run runs an informer until the test ends, and waits until its cache is filled.
func run(t *testing.T, informer cache.SharedIndexInformer) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); informer.RunWithContext(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the cache was never filled")
	}
}

func TestNodeImageLister(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, object := range []*v1alpha1.NodeImage{nodeImage("node-1", "a"), nodeImage("node-2", "b")} {
		if err := indexer.Add(object); err != nil {
			t.Fatal(err)
		}
	}
	lister := client.NewNodeImageLister(indexer)

	inB, err := lister.List(labels.SelectorFromSet(labels.Set{"zone": "b"}))
	if err != nil || len(inB) != 1 || inB[0].Name != "node-2" {
		t.Errorf("zone b: got %v, %v, want node-2", inB, err)
	}
	if got, err := lister.Get("node-1"); err != nil || got.Name != "node-1" {
		t.Errorf("node-1: got %v, %v", got, err)
	}
	if _, err := lister.Get("node-3"); !apierrors.IsNotFound(err) {
		t.Errorf("node-3: error %v, want not found", err)
	}
}

func TestFakeNodeImages(t *testing.T) {
	ctx := context.Background()
	nodes := fake.NewClient(nodeImage("node-1", "a")).NodeImages()
	if _, err := nodes.Create(ctx, nodeImage("node-2", "b"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := nodes.Delete(ctx, "node-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := nodes.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "node-2" {
		t.Errorf("listed %v, %v, want node-2", list, err)
	}
}
