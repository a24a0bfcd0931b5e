// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// Snapshot is everything that a plan depends on: what was known at one moment. Its
// objects are shared with caches; nothing in this package changes them.
type Snapshot struct {
	// Budget is the budget. Required.
	Budget *v1alpha1.PodUnavailableBudget
	// Others are the other budgets of the namespace, in any order.
	Others []*v1alpha1.PodUnavailableBudget
	// Pods are the pods of the namespace, by name.
	Pods []*corev1.Pod
	// Workloads are those of the pods, and what controls these.
	Workloads budget.Workloads
	// Foreign tells that some of these have no informer, so that no event tells when they
	// are scaled.
	Foreign bool
	// Unknown is why some of the workloads are not known; nil where all are.
	Unknown error
	// Mirror is Options.Mirror, and Disruptions are the PodDisruptionBudgets of the namespace, in any order; none
	// where Mirror is MirrorNone. (PUB-30)
	Mirror      MirrorPolicy
	Disruptions []*policyv1.PodDisruptionBudget
	// Now is the time for which to plan.
	Now time.Time
}
