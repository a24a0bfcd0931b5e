// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// Snapshot is everything that a plan depends on: what was known at one moment. Its
// objects are shared with caches; nothing in this package changes them.
type Snapshot struct {
	// Budget is the budget. Required.
	Budget *v1alpha1.PodUnavailableBudget
	// Others are the other budgets of the namespace, in any order.
	Others []*v1alpha1.PodUnavailableBudget
	// Pods are the pods of the namespace, in any order.
	Pods []*corev1.Pod
	// read is the same if they were read before, and candidates are those of them that the budget may be about.
	read, candidates []*budget.Pod
	// Workloads are those of the pods, and what controls these.
	Workloads budget.Workloads
	// LookAfter is after which time these are to be looked at again. No event tells when they are
	// scaled or go. It is 0 if events tell.
	LookAfter time.Duration
	// Unknown is why some of the workloads could not be read; nil if nothing failed.
	Unknown error
	// Features are Options.Features.
	Features Features
	// Mirror is Options.Mirror, and Disruptions are the PodDisruptionBudgets of the namespace, in any order; none
	// if Mirror is MirrorNone. (PUB-30)
	Mirror      MirrorPolicy
	Disruptions []*policyv1.PodDisruptionBudget
	// HeldSince is when what holds the budget up began, as far as a controller remembers. (PUB-42)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan.
	Now time.Time
}
