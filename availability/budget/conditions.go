// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// mostNames is how many pods or workloads a condition names.
const mostNames = 3

// conditions says in words what a budget does not know, or does not protect. While all is well there are none. (PUB-20, PUB-23)
func conditions(b *v1alpha1.PodUnavailableBudget, s Selection, now time.Time) (list []metav1.Condition) {
	set := func(kind, reason, message string) {
		c := metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message,
			ObservedGeneration: b.Generation, LastTransitionTime: metav1.NewTime(now)}
		if before := meta.FindStatusCondition(b.Status.Conditions, kind); before != nil {
			c.LastTransitionTime = before.LastTransitionTime
		}
		list = append(list, c)
	}
	if message := Unknown(b, s); message != "" {
		set(v1alpha1.TotalUnknownCondition, v1alpha1.WorkloadNotReadReason, message)
	}
	if len(s.Elsewhere) > 0 {
		pod := s.Elsewhere[0]
		set(v1alpha1.PodsElsewhereCondition, v1alpha1.AnotherBudgetReason, fmt.Sprintf(
			"pods such as %s belong to PodUnavailableBudget %s, which protects them: they do not count here", pod.Name, pod.Annotations[v1alpha1.RelatedPubAnnotation]))
	}
	return list
}

// Unknown says of which workloads a budget would have to know how many pods they want, and what to do about that; empty
// for none. (PUB-23)
func Unknown(b *v1alpha1.PodUnavailableBudget, s Selection) string {
	if !s.undecided(b) {
		return ""
	}
	names := strings.Join(s.Unknown[:min(len(s.Unknown), mostNames)], ", ")
	if n := len(s.Unknown) - mostNames; n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("it is not known how many pods %s wants, so that none may be disrupted: have the controller read its scale subresource, "+
		"say minAvailable as a number, or say the total in the annotation %s of a budget with a selector", names, v1alpha1.PubProtectTotalReplicasAnnotation)
}
