// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/client"
	policyv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Pods of workloads that the manager does not know by themselves, and PodDisruptionBudgets.
var (
	queues    = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "queues"}
	withPDBs  = []string{"--podunavailablebudget-mirror=Annotated"}
	withQueue = []string{"--podunavailablebudget-crds=" + queues.GroupResource().String()}
)

// PodUnavailableBudgets that a PodDisruptionBudget shows, with the disruption controller of Kubernetes and its evictions: a drain ends as
// it does without. It is among TestFaults: the manager is another one meanwhile. (PUB-23, PUB-30, PUB-32)
func testPodDisruptionBudgets(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	s.Manager.Kill()
	s.Cleanup(s.revive)
	manager := s.Manager.With(slices.Concat(withPDBs, withQueue)...)
	if err := manager.Start(); err != nil {
		t.Fatal(err)
	}
	s.Cleanup(manager.Kill)
	if err := s.webhooksAreCalled(s.Context()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		set            *v1alpha1.CloneSet
		maxUnavailable int32
		minAvailable   int
	}{
		{cloneSet("one", 1, strategy(inPlace, 0), surge(1)), 0, 1},
		{cloneSet("four", 4), 1, 3},
	} {
		name := test.set.Name
		s.budget(name, test.maxUnavailable)
		s.mirrored(name)
		s.run(test.set)
		s.awaitProtected(name)
		s.awaitPDB(name, func(d *policyv1.PodDisruptionBudget) bool {
			return int(d.Status.DesiredHealthy) == test.minAvailable && d.Status.CurrentHealthy >= d.Status.DesiredHealthy
		})
		s.expect(name, test.minAvailable, int(*test.set.Spec.Replicas)+1)
		before := s.owned(name)
		s.drain(before)
		for _, pod := range before {
			s.AwaitGone(pod, "it was drained")
		}
		s.awaitSettled(name)
		s.keptBudget(name)
	}
	s.edit("four", replicas(5))
	s.awaitPDB("four", func(d *policyv1.PodDisruptionBudget) bool { return d.Status.DesiredHealthy == 4 })
	s.foreignWorkload()
	s.yields("four")
}

// mirrored has a budget ask for a PodDisruptionBudget.
func (s *cloneSetFixture) mirrored(name string) {
	s.Helper()
	budgets, err := client.NewForConfig(s.Config())
	if err != nil {
		s.Fatalf("%v", err)
	}
	patch := []byte(`{"metadata":{"annotations":{"` + policyv1alpha1.PodDisruptionBudgetAnnotation + `":"true"}}}`)
	if _, err := budgets.PodUnavailableBudgets(s.Namespace).Patch(s.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.Fatalf("%v", err)
	}
}

// awaitPDB waits for a PodDisruptionBudget, and until the disruption controller has seen it.
func (s *cloneSetFixture) awaitPDB(name string, want func(*policyv1.PodDisruptionBudget) bool) {
	s.Helper()
	s.AwaitAsking("PUB-30: PodDisruptionBudget "+name, func() string {
		d, err := s.Core.PolicyV1().PodDisruptionBudgets(s.Namespace).Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if d.Status.ObservedGeneration != d.Generation || !want(d) {
			return fmt.Sprintf("%+v of %+v", d.Status, d.Spec)
		}
		return ""
	})
}

// yields has a user create a PodDisruptionBudget of the same pods: the one of the budget goes.
func (s *cloneSetFixture) yields(name string) {
	s.Helper()
	mine := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}}}
	if _, err := s.Core.PolicyV1().PodDisruptionBudgets(s.Namespace).Create(s.Context(), mine, metav1.CreateOptions{}); err != nil {
		s.Fatalf("%v", err)
	}
	s.AwaitAsking("PUB-32: a user's own PodDisruptionBudget comes first", func() string {
		if _, err := s.Core.PolicyV1().PodDisruptionBudgets(s.Namespace).Get(s.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("there are two: %v", err)
		}
		return ""
	})
}

// foreignWorkload protects the pods of a custom resource with a scale subresource. Their budget is shown as well: with its number it
// needs no scale.
func (s *cloneSetFixture) foreignWorkload() {
	s.Helper()
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": queues.GroupResource().String()},
		"spec": map[string]any{
			"group": queues.Group, "scope": "Namespaced", "names": map[string]any{"plural": queues.Resource, "singular": "queue", "kind": "Queue"},
			"versions": []any{map[string]any{"name": queues.Version, "served": true, "storage": true,
				"schema":       map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				"subresources": map[string]any{"scale": map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}},
			}},
		},
	}}
	definitions := s.Dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := definitions.Create(s.Context(), crd, metav1.CreateOptions{}); err != nil {
		s.Fatalf("%v", err)
	}
	s.Cleanup(func() { _ = definitions.Delete(context.Background(), crd.GetName(), metav1.DeleteOptions{}) })
	queue := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Queue", "metadata": map[string]any{"name": "jobs"},
		"spec": map[string]any{"replicas": int64(2)}, "status": map[string]any{"selector": "app=jobs"}}}
	s.AwaitAsking("the Queue is created", func() string {
		created, err := s.Dynamic.Resource(queues).Namespace(s.Namespace).Create(s.Context(), queue, metav1.CreateOptions{})
		if err != nil {
			return err.Error()
		}
		queue = created
		return ""
	})
	budgets, err := client.NewForConfig(s.Config())
	if err != nil {
		s.Fatalf("%v", err)
	}
	budget := &policyv1alpha1.PodUnavailableBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "jobs", Annotations: map[string]string{policyv1alpha1.PodDisruptionBudgetAnnotation: "true"}},
		Spec: policyv1alpha1.PodUnavailableBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1)),
			TargetReference: &policyv1alpha1.TargetReference{APIVersion: "example.com/v1", Kind: "Queue", Name: "jobs"}},
	}
	if _, err := budgets.PodUnavailableBudgets(s.Namespace).Create(s.Context(), budget, metav1.CreateOptions{}); err != nil {
		s.Fatalf("%v", err)
	}
	pods := s.Core.CoreV1().Pods(s.Namespace)
	for _, name := range []string{"jobs-0", "jobs-1"} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "jobs"}, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(queue, queues.GroupVersion().WithKind("Queue"))}},
			Spec:       cloneSet("jobs", 1).Spec.Template.Spec,
		}
		if _, err := pods.Create(s.Context(), pod, metav1.CreateOptions{}); err != nil {
			s.Fatalf("%v", err)
		}
	}
	s.awaitPDB("jobs", func(d *policyv1.PodDisruptionBudget) bool {
		return d.Status.DesiredHealthy == 1 && d.Status.CurrentHealthy == 2
	})
	var first, second *corev1.Pod
	s.AwaitAsking("PUB-23: the pods are protected", func() string {
		b, err := budgets.PodUnavailableBudgets(s.Namespace).Get(s.Context(), "jobs", metav1.GetOptions{})
		if err != nil || b.Status.CurrentAvailable != 2 || b.Status.TotalReplicas != 2 || b.Status.UnavailableAllowed != 1 {
			return fmt.Sprint(err, b.Status)
		}
		if first, err = pods.Get(s.Context(), "jobs-0", metav1.GetOptions{}); err == nil {
			second, err = pods.Get(s.Context(), "jobs-1", metav1.GetOptions{})
		}
		if err != nil || first.Annotations[policyv1alpha1.RelatedPubAnnotation] != "jobs" || second.Annotations[policyv1alpha1.RelatedPubAnnotation] != "jobs" {
			return fmt.Sprintf("they do not name it: %v", err)
		}
		return ""
	})
	if err := s.evict(first); err != nil {
		s.Errorf("PUB-23: the first is evicted: %v", err)
	}
	if err := s.evict(second); !apierrors.IsTooManyRequests(err) {
		s.Errorf("PUB-23: the second is evicted: %v", err)
	}
}
