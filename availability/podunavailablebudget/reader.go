// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler never
// changes it. Its methods are called by several goroutines. New makes one over
// informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// Budget returns a budget, or an error for which apierrors.IsNotFound holds.
	Budget(namespace, name string) (*v1alpha1.PodUnavailableBudget, error)
	// Budgets returns the budgets of a namespace, in any order.
	Budgets(namespace string) ([]*v1alpha1.PodUnavailableBudget, error)
	// Pods returns the pods of a namespace, in any order.
	Pods(namespace string) ([]*corev1.Pod, error)
	// PodDisruptionBudgets returns those of a namespace, in any order. It is called unless
	// Options.Mirror is MirrorNone.
	PodDisruptionBudgets(namespace string) ([]*policyv1.PodDisruptionBudget, error)
	// Workload returns a workload, nil if there is none of that name. If known is false,
	// no cache has the kind.
	Workload(namespace string, kind schema.GroupKind, name string) (w *budget.Workload, known bool, err error)
}

// informerReader reads informers.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) Budget(namespace, name string) (*v1alpha1.PodUnavailableBudget, error) {
	return caches.Get[*v1alpha1.PodUnavailableBudget](r.Reader, ResourceBudgets, namespace, name)
}

func (r informerReader) Budgets(namespace string) ([]*v1alpha1.PodUnavailableBudget, error) {
	return caches.List[*v1alpha1.PodUnavailableBudget](r.Reader, ResourceBudgets, namespace, labels.Everything())
}

func (r informerReader) Pods(namespace string) ([]*corev1.Pod, error) {
	return caches.List[*corev1.Pod](r.Reader, ResourcePods, namespace, labels.Everything())
}

func (r informerReader) PodDisruptionBudgets(namespace string) ([]*policyv1.PodDisruptionBudget, error) {
	return caches.List[*policyv1.PodDisruptionBudget](r.Reader, ResourcePodDisruptionBudgets, namespace, labels.Everything())
}

func (r informerReader) Workload(namespace string, kind schema.GroupKind, name string) (*budget.Workload, bool, error) {
	resource := resourceOf(kind)
	if _, known := r.Reader[resource]; !known {
		return nil, false, nil
	}
	object, err := caches.Get[any](r.Reader, resource, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, true, nil
	}
	return workloadOf(object), true, err
}
