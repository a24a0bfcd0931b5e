// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// TestScale: reads and writes of a scale are reads and writes of the replicas.
func TestScale(t *testing.T) {
	ctx := t.Context()
	deployments := fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", func() any { return &appsv1.Deployment{} })
	deployments.Scale = &fakecluster.Scale{
		Replicas: []string{"spec", "replicas"}, StatusReplicas: []string{"status", "replicas"}, Selector: []string{"spec", "selector"},
	}
	server := fakecluster.New(nil, deployments)
	all := kubernetes.NewForConfigOrDie(server.Config("test")).AppsV1().Deployments("shop")
	three := int32(3)
	set, err := all.Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &three, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set.Status.Replicas = 2
	if set, err = all.UpdateStatus(ctx, set, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := all.GetScale(ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: set.UID, ResourceVersion: set.ResourceVersion,
			CreationTimestamp: set.CreationTimestamp},
		Spec: autoscalingv1.ScaleSpec{Replicas: 3}, Status: autoscalingv1.ScaleStatus{Replicas: 2, Selector: "app=web"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scale (-want +got):\n%s", diff)
	}
	stale := got.DeepCopy()
	got.Spec.Replicas = 5
	if got, err = all.UpdateScale(ctx, "web", got, metav1.UpdateOptions{}); err != nil || got.Spec.Replicas != 5 {
		t.Errorf("error %v, scale %+v", err, got)
	}
	if _, err := all.UpdateScale(ctx, "web", stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("error %v of an update of what was there before", err)
	}
	if _, err := all.Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{}, "scale"); err != nil {
		t.Error(err)
	}
	if set, err = all.Get(ctx, "web", metav1.GetOptions{}); err != nil || *set.Spec.Replicas != 7 || set.Generation != 3 || set.Status.Replicas != 2 {
		t.Errorf("error %v, %+v", err, set)
	}
}
