// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/podwright/podwright/applyconfigurations/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/fakecluster"
)

// TestApply: a manager takes away what it no longer applies, and nothing that another one has written. The status is applied by itself.
func TestApply(t *testing.T) {
	ctx, sets := t.Context(), newClient(t, fakecluster.New().Config("test")).CloneSets("shop")
	mine := metav1.ApplyOptions{FieldManager: "mine"}
	status := v1alpha1.CloneSet("web", "shop").WithStatus(v1alpha1.CloneSetStatus().WithReplicas(2))
	if _, err := sets.ApplyStatus(ctx, status, mine); !apierrors.IsNotFound(err) {
		t.Errorf("error %v of a status without an object", err)
	}
	spec := v1alpha1.CloneSetSpec().WithReplicas(3).WithMinReadySeconds(5)
	if _, err := sets.Apply(ctx, v1alpha1.CloneSet("web", "shop").WithSpec(spec), mine); err != nil {
		t.Fatal(err)
	}
	labels := v1alpha1.CloneSet("web", "shop").WithLabels(map[string]string{"a": "b"})
	if _, err := sets.Apply(ctx, labels, metav1.ApplyOptions{FieldManager: "other"}); err != nil {
		t.Fatal(err)
	}
	set, err := sets.Apply(ctx, v1alpha1.CloneSet("web", "shop").WithSpec(v1alpha1.CloneSetSpec().WithReplicas(4)), mine)
	if err != nil || *set.Spec.Replicas != 4 || set.Spec.MinReadySeconds != 0 || set.Labels["a"] != "b" {
		t.Errorf("error %v, set %+v", err, set)
	}
	if set, err = sets.ApplyStatus(ctx, status, mine); err != nil || set.Status.Replicas != 2 || *set.Spec.Replicas != 4 || set.Generation != 2 {
		t.Errorf("error %v, set %+v", err, set)
	}
	if again, err := sets.ApplyStatus(ctx, status, mine); err != nil || again.ResourceVersion != set.ResourceVersion {
		t.Errorf("error %v; the same again is a write", err)
	}
}

// TestApplyInMemory: the client in memory merges what is applied into an object that is there.
func TestApplyInMemory(t *testing.T) {
	ctx, sets := t.Context(), fake.NewClient(cloneSet("web")).CloneSets("shop")
	mine := metav1.ApplyOptions{FieldManager: "mine"}
	set, err := sets.Apply(ctx, v1alpha1.CloneSet("web", "shop").WithSpec(v1alpha1.CloneSetSpec().WithReplicas(3)), mine)
	if err != nil || *set.Spec.Replicas != 3 {
		t.Errorf("error %v, set %+v", err, set)
	}
	if _, err := sets.Apply(ctx, v1alpha1.CloneSet("other", "shop"), mine); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want that it is not found: client-go's memory creates nothing so", err)
	}
}

// Apply a CloneSet: fields that the program does not name belong to others, an autoscaler for example.
func ExampleCloneSetInterface() {
	ctx := context.Background()
	c, err := client.NewForConfig(fakecluster.New().Config("shop-operator"))
	if err != nil {
		fmt.Println(err)
		return
	}
	labels := map[string]string{"app": "web"}
	template := applycorev1.PodTemplateSpec().WithLabels(labels).WithSpec(applycorev1.PodSpec().
		WithContainers(applycorev1.Container().WithName("main").WithImage("nginx:1.27")))
	web := v1alpha1.CloneSet("web", "shop").WithSpec(v1alpha1.CloneSetSpec().
		WithSelector(applymetav1.LabelSelector().WithMatchLabels(labels)).WithTemplate(template))
	set, err := c.CloneSets("shop").Apply(ctx, web, metav1.ApplyOptions{FieldManager: "shop-operator", Force: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Spec.Template.Spec.Containers[0].Image, set.ManagedFields[0].Manager)
	// Output: nginx:1.27 shop-operator
}
