// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
)

// What holds a ResourceDistribution up: the failures in namespaces, by the types of their conditions, and the source. (RD-25)
const (
	RuleGetFailed        rollout.Rule = "GetResourceFailed"
	RuleCreateFailed     rollout.Rule = "CreateResourceFailed"
	RuleUpdateFailed     rollout.Rule = "UpdateResourceFailed"
	RuleDeleteFailed     rollout.Rule = "DeleteResourceFailed"
	RuleConflict         rollout.Rule = "ConflictOccurred"
	RuleNamespaceMissing rollout.Rule = "NamespaceNotExists"
	RuleSourceMissing    rollout.Rule = "SourceMissing"
)

// conditions says how HeldUp stands among the conditions, which have no message: the reason holds both.
var conditions = heldup.Conditions[v1alpha1.ResourceDistributionCondition]{
	Read: func(c *v1alpha1.ResourceDistributionCondition) (string, heldup.Told) {
		reason, message, _ := strings.Cut(c.Reason, ": ")
		return string(c.Type), heldup.Told{Reason: reason, Message: message, Since: c.LastTransitionTime.Time}
	},
	Make: func(t heldup.Told) v1alpha1.ResourceDistributionCondition {
		return v1alpha1.ResourceDistributionCondition{Type: v1alpha1.ResourceDistributionHeldUp, Status: conditionTrue,
			LastTransitionTime: metav1.NewTime(t.Since), Reason: t.Reason + ": " + t.Message}
	},
}

// held lists what holds the ResourceDistribution up once the plan is applied, with all that failed, by namespace. (RD-25)
func (p *Plan) held(failures []Failure) (holds []rollout.Wait) {
	listed := map[rollout.Subject]bool{}
	hold := func(kind, name string, rule rollout.Rule, message string) {
		key := rollout.Subject{Kind: kind, Name: name}
		if !listed[key] {
			listed[key] = true
			holds = append(holds, rollout.Wait{Subject: key, Reason: &rollout.Reason{Rule: rule, Message: message}})
		}
	}
	switch {
	case p.distribution == nil || p.distribution.DeletionTimestamp != nil:
		return nil
	case len(p.Problems) > 0:
		hold("", string(heldup.BadValue), heldup.BadValue, p.Problems[0].Err.Error())
		return holds
	case p.SourceMissing != nil:
		ref := p.distribution.Spec.SourceRef
		hold("source", ref.Namespace+"/"+ref.Name, RuleSourceMissing, p.SourceMissing.Error())
	}
	for _, f := range failures {
		if f.Type != v1alpha1.ResourceDistributionSourceMissing { // that is said of the source
			hold("namespace", f.Namespace, rollout.Rule(f.Type), f.Err.Error())
		}
	}
	return holds
}

// tell has a status say what holds the ResourceDistribution up, and returns it; nil if the observed one says as much. (RD-25)
func (p *Plan) tell(status *v1alpha1.ResourceDistributionStatus, holds []rollout.Wait, now time.Time) *v1alpha1.ResourceDistributionStatus {
	observed := &p.distribution.Status
	standing := conditions.Told(observed.Conditions)
	status.Conditions = conditions.Put(status.Conditions, heldup.Tell(holds, p.heldSince, standing, now))
	before, after := *observed, *status
	before.Conditions, after.Conditions = conditions.ToCompare(observed.Conditions, status.Conditions)
	if same(&before, &after) {
		return nil
	}
	return status
}
