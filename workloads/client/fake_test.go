// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func cloneSetIn(namespace, name string) *v1alpha1.CloneSet {
	return &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func TestObjectsAreKept(t *testing.T) {
	ctx := context.Background()
	c := fake.NewClient(cloneSetIn("shop", "web"))
	shop := c.CloneSets("shop")

	if _, err := shop.Create(ctx, cloneSetIn("shop", "db"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := shop.Create(ctx, cloneSetIn("shop", "db"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("second creation: error %v, want already exists", err)
	}
	patched, err := shop.Patch(ctx, "db", types.MergePatchType, []byte(`{"spec":{"minReadySeconds":7}}`), metav1.PatchOptions{})
	if err != nil || patched.Spec.MinReadySeconds != 7 {
		t.Errorf("patched to %v, %v, want minReadySeconds 7", patched, err)
	}
	web, err := shop.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	web.Status.Replicas = 3
	if _, err := shop.UpdateStatus(ctx, web, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	all, err := c.CloneSets("").List(ctx, metav1.ListOptions{})
	if err != nil || len(all.Items) != 2 || all.Items[1].Status.Replicas != 3 {
		t.Errorf("listed %v, %v, want db and then web with 3 replicas", all, err)
	}
	if err := shop.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := shop.Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after deletion: error %v, want not found", err)
	}
}

func TestCallsAreRecordedAndCanBeAnswered(t *testing.T) {
	c := fake.NewClient()
	refusal := errors.New("no")
	c.PrependReactor("delete", "clonesets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })
	if err := c.CloneSets("shop").Delete(context.Background(), "web", metav1.DeleteOptions{}); !errors.Is(err, refusal) {
		t.Errorf("error %v, want the reactor's", err)
	}
	if len(c.Actions()) != 1 || !c.Actions()[0].Matches("delete", "clonesets") {
		t.Errorf("recorded %v, want one deletion of a CloneSet", c.Actions())
	}
}

func TestWatch(t *testing.T) {
	c := fake.NewClient()
	w, err := c.CloneSets("shop").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := c.Tracker().Add(cloneSetIn("shop", "web")); err != nil {
		t.Fatal(err)
	}
	if got, ok := (<-w.ResultChan()).Object.(*v1alpha1.CloneSet); !ok || got.Name != "web" {
		t.Errorf("watched %#v, want the CloneSet web", got)
	}
}

func TestForeignObjectPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for a Pod, which is no workload kind")
		}
	}()
	fake.NewClient(&corev1.Pod{})
}
