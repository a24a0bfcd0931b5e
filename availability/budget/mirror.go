// SPDX-License-Identifier: Apache-2.0

package budget

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// Mirror returns the PodDisruptionBudget that shows a budget to those who know nothing of it:
// autoscalers ask it before they choose a node, and evictions are denied by the API server
// itself. The budget is its owner, and gives it its name. It protects from evictions alone: as
// many pods as are desired, whatever their annotations say, and none that is not ready. With a
// targetRef the selector is that of the workload; nil: nobody knows it.
//
// Nil: there is to be none, since the budget has no status yet, wants no pods, does not protect
// from evictions, is being deleted, or nobody knows the selector. (PUB-30)
func Mirror(b *v1alpha1.PodUnavailableBudget, status *v1alpha1.PodUnavailableBudgetStatus, selector *metav1.LabelSelector) *policyv1.PodDisruptionBudget {
	if b.Spec.TargetReference == nil {
		selector = b.Spec.Selector
	}
	if selector == nil || status.ObservedGeneration == 0 || status.DesiredAvailable <= 0 ||
		b.DeletionTimestamp != nil || !protects(b, v1alpha1.PubEvictOperation) {
		return nil
	}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b, v1alpha1.SchemeGroupVersion.WithKind("PodUnavailableBudget"))}},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable:               new(intstr.FromInt32(status.DesiredAvailable)),
			Selector:                   selector.DeepCopy(),
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
}
