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
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/lifecycle/client/fake"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func restartIn(namespace, name string) *v1alpha1.ContainerRecreateRequest {
	return &v1alpha1.ContainerRecreateRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func TestObjectsAreKept(t *testing.T) {
	ctx := context.Background()
	c := fake.NewClient(restartIn("shop", "web"))
	shop := c.ContainerRecreateRequests("shop")

	if _, err := shop.Create(ctx, restartIn("shop", "db"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := shop.Create(ctx, restartIn("shop", "db"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("second creation: error %v, want already exists", err)
	}
	all, err := c.ContainerRecreateRequests("").List(ctx, metav1.ListOptions{})
	if err != nil || len(all.Items) != 2 {
		t.Errorf("listed %v, %v, want db and web", all, err)
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
	c.PrependReactor("delete", "containerrecreaterequests", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })
	if err := c.ContainerRecreateRequests("shop").Delete(context.Background(), "web", metav1.DeleteOptions{}); !errors.Is(err, refusal) {
		t.Errorf("error %v, want the reactor's", err)
	}
	if len(c.Actions()) != 1 || !c.Actions()[0].Matches("delete", "containerrecreaterequests") {
		t.Errorf("recorded %v, want one deletion of a ContainerRecreateRequest", c.Actions())
	}
}

func TestForeignObjectPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for a Pod, which is no lifecycle kind")
		}
	}()
	fake.NewClient(&corev1.Pod{})
}
