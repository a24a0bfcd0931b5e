// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/fakecluster"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// A kind of the caller's, pods in any namespace, an image that is bad, requests that fail.
func TestCluster(t *testing.T) {
	ctx := t.Context()
	cluster := fakecluster.New(fakecluster.Resource{
		GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shop"}, Plural: "shops", ClusterScoped: true})
	kube := kubernetes.NewForConfigOrDie(cluster.Config("test"))
	shops := dynamic.NewForConfigOrDie(cluster.Config("test")).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "shops"})
	shop, err := shops.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Shop", "metadata": map[string]any{"name": "mine"}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods := kube.CoreV1().Pods("shop")
	for _, image := range []string{"good", "bad"} {
		owner := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Shop", Name: "mine", UID: shop.GetUID()}
		if _, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: image, OwnerReferences: []metav1.OwnerReference{owner}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	steps := func() {
		for range 3 {
			if err := cluster.Step(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	steps()
	for image, want := range map[string]bool{"good": true, "bad": false} {
		pod, err := pods.Get(ctx, image, metav1.GetOptions{})
		if err != nil || len(pod.Status.ContainerStatuses) != 1 || pod.Status.ContainerStatuses[0].Ready != want {
			t.Errorf("image %s: error %v, status %+v", image, err, pod.Status)
		}
	}
	if err := shops.Delete(ctx, "mine", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	steps()
	if list, err := pods.List(ctx, metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
		t.Errorf("error %v, %d pods are left after their owner", err, len(list.Items))
	}
	cluster.FailRequests(func(user, request, name string) error {
		if user == "test" && request == "get pods" && name == "good" {
			return apierrors.NewForbidden(corev1.Resource("pods"), name, fmt.Errorf("not today"))
		}
		return nil
	})
	if _, err := pods.Get(ctx, "good", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("error %v, want that of FailRequests", err)
	}
	cluster.FailRequests(nil)
	if _, err := pods.Get(ctx, "good", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("error %v after the failures have ended", err)
	}
	if _, err := kube.CoreV1().Endpoints("shop").List(ctx, metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), "endpoints") {
		t.Errorf("error %v, want one that names what is not known", err)
	}
}

// TestKinds: every kind of the library can be listed and watched, and those with a scale be scaled.
func TestKinds(t *testing.T) {
	ctx, cluster := t.Context(), fakecluster.New()
	all := dynamic.NewForConfigOrDie(cluster.Config("test"))
	definitions := slices.Concat(workloads.CRDs(), sidecar.CRDs(), availability.CRDs(), distribution.CRDs(), lifecycle.CRDs())
	for _, crd := range definitions {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		served := 0
		for _, version := range versions {
			resource := schema.GroupVersionResource{Group: group, Version: version.(map[string]any)["name"].(string), Resource: plural}
			if _, err := all.Resource(resource).List(ctx, metav1.ListOptions{}); err == nil {
				served++
			}
		}
		if served != 1 {
			t.Errorf("%s is served in %d versions, want that in which it is stored", crd.GetName(), served)
		}
	}
	workloads, err := client.NewForConfig(cluster.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workloads.CloneSets("shop").Create(ctx, &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sets := all.Resource(v1alpha1.SchemeGroupVersion.WithResource("clonesets")).Namespace("shop")
	if _, err := sets.Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{}, "scale"); err != nil {
		t.Fatal(err)
	}
	if set, err := workloads.CloneSets("shop").Get(ctx, "web", metav1.GetOptions{}); err != nil || *set.Spec.Replicas != 7 {
		t.Errorf("error %v, replicas %v", err, set.Spec.Replicas)
	}
}
