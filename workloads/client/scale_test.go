// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/fakecluster"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestScale: an API server and the client in memory show and write replicas alike.
func TestScale(t *testing.T) {
	for name, c := range map[string]client.Interface{
		"API server": newClient(t, fakecluster.New().Config("test")), "memory": fake.NewClient(),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, sets := t.Context(), c.CloneSets("shop")
			three := int32(3)
			set, err := sets.Create(ctx, &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"a": "b"}},
				Spec: v1alpha1.CloneSetSpec{Replicas: &three}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			set.Status.Replicas, set.Status.LabelSelector = 2, "app=web"
			if set, err = sets.UpdateStatus(ctx, set, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			got, err := sets.GetScale(ctx, "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: set.UID,
				ResourceVersion: set.ResourceVersion, CreationTimestamp: set.CreationTimestamp},
				Spec: autoscalingv1.ScaleSpec{Replicas: 3}, Status: autoscalingv1.ScaleStatus{Replicas: 2, Selector: "app=web"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("scale (-want +got):\n%s", diff)
			}
			got.Spec.Replicas = 5
			if got, err = sets.UpdateScale(ctx, "web", got, metav1.UpdateOptions{}); err != nil || got.Spec.Replicas != 5 {
				t.Errorf("error %v, scale %+v", err, got)
			}
			set, err = sets.Get(ctx, "web", metav1.GetOptions{})
			if err != nil || *set.Spec.Replicas != 5 || set.Labels["a"] != "b" || set.Status.Replicas != 2 {
				t.Errorf("error %v, set %+v", err, set)
			}
			for what, err := range map[string]error{
				"get":    errorOf(sets.GetScale(ctx, "other", metav1.GetOptions{})),
				"update": errorOf(sets.UpdateScale(ctx, "other", &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.UpdateOptions{})),
			} {
				if !apierrors.IsNotFound(err) {
					t.Errorf("%s of what does not exist: error %v", what, err)
				}
			}
		})
	}
}

func errorOf[T any](_ T, err error) error { return err }

// TestScaleAnswered: a test can answer with a scale of its own, as of client-go's fakes.
func TestScaleAnswered(t *testing.T) {
	c := fake.NewClient()
	c.PrependReactor("get", "clonesets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return action.GetSubresource() == "scale", &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 9}}, nil
	})
	if got, err := c.CloneSets("shop").GetScale(t.Context(), "web", metav1.GetOptions{}); err != nil || got.Spec.Replicas != 9 {
		t.Errorf("error %v, scale %+v", err, got)
	}
}

// TestSharedInformerFactory: an informer is made once, runs once, and ends with its context.
func TestSharedInformerFactory(t *testing.T) {
	c := fake.NewClient(cloneSet("web"))
	factory := client.NewSharedInformerFactory(c, "shop", 0)
	if factory.CloneSetInformer() != factory.CloneSetInformer() {
		t.Error("two informers of a kind")
	}
	ctx, cancel := context.WithCancel(t.Context())
	lister := factory.CloneSetLister()
	factory.Start(ctx)
	factory.Start(ctx) // an informer that runs twice logs and does nothing, so that below would pass too
	if err := factory.WaitForCacheSync(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := lister.Namespace("shop").Get("web"); err != nil {
		t.Error(err)
	}
	lists := 0
	for _, action := range c.Actions() {
		if action.GetVerb() == "list" {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("%d lists, want 1", lists)
	}
	// A kind that is asked for later runs from the next start on.
	c.PrependReactor("list", "daemonsets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInternalError(context.Canceled)
	})
	factory.DaemonSetInformer()
	factory.Start(ctx)
	short, end := context.WithTimeout(ctx, 50*time.Millisecond)
	defer end()
	if err := factory.WaitForCacheSync(short); err == nil || !strings.Contains(err.Error(), "DaemonSets") {
		t.Errorf("error %v, want one that names DaemonSets", err)
	}
	cancel()
	factory.Shutdown()
	if !factory.CloneSetInformer().IsStopped() {
		t.Error("the informer runs after Shutdown")
	}
}
