// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// conditionTypes are the conditions of every status, in their order. (RD-14)
var conditionTypes = []v1alpha1.ResourceDistributionConditionType{
	v1alpha1.ResourceDistributionGetResourceFailed, v1alpha1.ResourceDistributionCreateResourceFailed,
	v1alpha1.ResourceDistributionUpdateResourceFailed, v1alpha1.ResourceDistributionDeleteResourceFailed,
	v1alpha1.ResourceDistributionConflictOccurred, v1alpha1.ResourceDistributionNamespaceNotExists,
}

const (
	conditionTrue   = "True"
	conditionFalse  = "False"
	reasonSucceeded = "Succeeded"
)

// Status returns the status once the plan is applied. It has all that failed, in any order, with
// what is in Failed among it. It is nil if the observed status says the same already. (RD-14)
func (p *Plan) Status(failures []Failure, now time.Time) *v1alpha1.ResourceDistributionStatus {
	if len(p.Problems) > 0 && p.distribution != nil {
		return p.tell(p.distribution.Status.DeepCopy(), p.held(nil), now)
	}
	if p.template == nil {
		return nil
	}
	failures = slices.Clone(failures)
	slices.SortStableFunc(failures, func(a, b Failure) int { return strings.Compare(a.Namespace, b.Namespace) })
	observed := &p.distribution.Status
	status := &v1alpha1.ResourceDistributionStatus{Desired: int32(len(p.Targets)), ObservedGeneration: p.distribution.Generation}
	for _, t := range conditionTypes {
		status.Conditions = append(status.Conditions, condition(t, failures, observed.Conditions, now))
	}
	if p.distribution.Spec.SourceRef != nil {
		status.Conditions = append(status.Conditions, p.sourceCondition(failures, observed.Conditions, now))
	}
	failed := map[string]bool{}
	for _, f := range failures {
		if f.Type != v1alpha1.ResourceDistributionDeleteResourceFailed {
			failed[f.Namespace] = true
		}
	}
	status.Failed = int32(len(failed))
	status.Succeeded = status.Desired - status.Failed
	return p.tell(status, p.held(failures), now)
}

func same(a, b *v1alpha1.ResourceDistributionStatus) bool { return equality.Semantic.DeepEqual(a, b) }

// mostNamespaces is how many namespaces a condition names: all conditions stay below the 1.5 MB that the API server stores. (RD-24)
const mostNamespaces = 1000

// condition is the condition of a type.
func condition(t v1alpha1.ResourceDistributionConditionType, failures []Failure, observed []v1alpha1.ResourceDistributionCondition, now time.Time) v1alpha1.ResourceDistributionCondition {
	c := v1alpha1.ResourceDistributionCondition{Type: t, Status: conditionFalse, Reason: reasonSucceeded}
	for _, f := range failures {
		if f.Type == t {
			c.Status, c.Reason = conditionTrue, f.Err.Error()
			if len(c.FailedNamespaces) < mostNamespaces {
				c.FailedNamespaces = append(c.FailedNamespaces, f.Namespace)
			}
		}
	}
	return since(c, observed, now)
}

// since gives a condition the time of the last change of its status.
func since(c v1alpha1.ResourceDistributionCondition, observed []v1alpha1.ResourceDistributionCondition, now time.Time) v1alpha1.ResourceDistributionCondition {
	c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	for i := range observed {
		if o := &observed[i]; o.Type == c.Type && o.Status == c.Status {
			c.LastTransitionTime = o.LastTransitionTime
		}
	}
	return c
}
