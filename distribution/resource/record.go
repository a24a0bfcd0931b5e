// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// reasonInvalidResource is the reason of the event about a spec that cannot be read. What
// fails in namespaces is recorded with the types of the conditions as reasons. (RD-15)
const reasonInvalidResource = "InvalidResource"

// recordProblem records once that nothing can be done.
func (a *applier) recordProblem() {
	problem := rollout.ErrorOf(a.plan.Problems)
	if a.Begins(reasonInvalidResource, problem != nil) {
		a.Event(corev1.EventTypeWarning, reasonInvalidResource, "%v", problem)
	}
}

// shownNamespaces is how many namespaces an event spells out.
const shownNamespaces = 5

// recordConditions records the conditions that have become True.
func (a *applier) recordConditions(conditions []v1alpha1.ResourceDistributionCondition) {
	for i := range conditions {
		c := &conditions[i]
		if c.Type == v1alpha1.ResourceDistributionHeldUp { // what holds up was recorded when it began
			continue
		}
		if !a.Begins(string(c.Type), c.Status == conditionTrue) {
			continue
		}
		namespaces := c.FailedNamespaces
		text := strings.Join(namespaces[:min(shownNamespaces, len(namespaces))], ", ")
		if more := len(namespaces) - shownNamespaces; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		if text != "" {
			text = "in " + text + ": "
		}
		a.Event(corev1.EventTypeWarning, string(c.Type), "%s%s", text, c.Reason)
	}
}
