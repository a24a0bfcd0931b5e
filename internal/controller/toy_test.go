// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/toy"
	"github.com/podwright/podwright/internal/testing/toy/client"
	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
)

// The toy kind, which CONTRIBUTING's check-list is gone through for, runs: events reach the object that they concern and no more, the status
// follows, and what is planned then is what stands there.
func TestToyKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := fakecluster.New(nil, fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("Toy"), "toys")).Config("toy")
		core, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		clients, err := client.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		toys, err := toy.New(toy.Options{Kubernetes: core, Toy: clients})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- toys.Run(ctx) }()

		ofToys, pods := clients.Toys("shop"), core.CoreV1().Pods("shop")
		if _, err := ofToys.Create(ctx, &v1alpha1.Toy{ObjectMeta: metav1.ObjectMeta{Name: "blocks"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "red", Labels: map[string]string{"toy": "blocks"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
		if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		version := ""
		for _, step := range []struct {
			patch, subresource string
			want               int32
		}{
			{`{}`, "", 1},
			{`{"status":{"message":"a heartbeat"}}`, "status", 1},
			{`{"metadata":{"labels":{"toy":"balls"}}}`, "", 0},
		} {
			if _, err := pods.Patch(ctx, "red", types.StrategicMergePatchType, []byte(step.patch), metav1.PatchOptions{}, subresources(step.subresource)...); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // in the time of the bubble: the cache follows
			synctest.Wait()
			got, err := ofToys.Get(ctx, "blocks", metav1.GetOptions{})
			if err != nil || got.Status != (v1alpha1.ToyStatus{ObservedGeneration: 1, Pods: step.want}) {
				t.Errorf("after %s: error %v, status %+v, want %d pods", step.patch, err, got.Status, step.want)
			}
			if step.subresource == "status" && got.ResourceVersion != version {
				t.Error("a change of what is not declared is written about")
			}
			version = got.ResourceVersion
			if next, err := toys.Plan(ctx, types.NamespacedName{Namespace: "shop", Name: "blocks"}); err != nil || next.Status != got.Status {
				t.Errorf("after %s: error %v, and it would write %+v", step.patch, err, next)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func subresources(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
