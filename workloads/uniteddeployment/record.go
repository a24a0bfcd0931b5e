// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/apply"
)

// The reasons of events about UnitedDeployments. (UD-17)
const (
	reasonSuccessfulUpdateSubset      = "SuccessfulUpdateSubset"
	reasonFailedUpdateSubset          = "FailedUpdateSubset"
	ReasonFailedRevisionProvision     = "FailedRevisionProvision"
	reasonFailedSpecifySubsetReplicas = "Failed SpecifySubsetReplicas"
	reasonInvalidSpec                 = "InvalidSpec"
	reasonResolvedSubsetReplicas      = "ResolvedSubsetReplicas"
	reasonUpdateBlocked               = "UpdateBlocked"
	reasonSubsetUnschedulable         = "SubsetUnschedulable"
	reasonSubsetSchedulable           = "SubsetSchedulable"
)

// recordPlan records once what is wrong with the spec, and that what subsets ask for was changed.
func (a *applier) recordPlan() {
	problem, reason := "", reasonInvalidSpec
	if len(a.plan.Problems) > 0 {
		problem = a.plan.Problems[0].Err.Error()
	}
	if strings.Contains(problem, "].replicas: ") {
		reason = reasonFailedSpecifySubsetReplicas
	}
	if problem != a.problems.Get(a.Key) && problem != "" {
		a.Event(corev1.EventTypeWarning, reason, "%s", problem)
	}
	a.problems.Set(a.Key, problem)
	if a.Begins("resolved", a.plan.Resolved) {
		a.Event(corev1.EventTypeWarning, reasonResolvedSubsetReplicas,
			"the replicas that subsets ask for do not add up to spec.replicas: these are split in their proportion")
	}
	if pods := a.plan.Blocking; a.Begins("blocked", len(pods) > 0) {
		a.Event(corev1.EventTypeWarning, reasonUpdateBlocked, "the update waits for pod %s: it is deleted when it has not been ready for %v", pods[0].Name, UnreadyFor)
	}
}

// recordMoves records that other subsets run what one cannot, and when that ends.
func (a *applier) recordMoves() {
	for _, name := range a.plan.Closed {
		a.Event(corev1.EventTypeWarning, reasonSubsetUnschedulable, "pods of the subset %s find no nodes: other subsets run them as far as they can", name)
	}
	for _, name := range a.plan.Reopened {
		a.Event(corev1.EventTypeNormal, reasonSubsetSchedulable, "the subset %s gets pods again", name)
	}
}

// recordMade records what came of the creation of workloads.
func (a *applier) recordMade(verb string, n int, all []Creation, err error) {
	if n > 0 {
		a.Event(corev1.EventTypeNormal, reasonSuccessfulUpdateSubset, "%s %d Subset (%s)", verb, n, all[0].Kind)
	}
	if worth := apply.WorthRetrying(err); worth != nil {
		a.Event(corev1.EventTypeWarning, reasonFailedUpdateSubset, "%v", worth)
	}
}
