// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Rule allows verbs, which are separated by spaces, on a resource of a group; the
// core group is empty. A subresource follows a slash: "pods/status".
func Rule(group, resource, verbs string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: strings.Fields(verbs), APIGroups: []string{group}, Resources: []string{resource}}
}

// Watch allows to read resources of a group through caches.
func Watch(group string, resources ...string) (rules []rbacv1.PolicyRule) {
	for _, resource := range resources {
		rules = append(rules, Rule(group, resource, "list watch"))
	}
	return rules
}

// Events allows to record events.
func Events() rbacv1.PolicyRule { return Rule("", "events", "create patch") }

// Reconciled allows the verbs on objects of a resource, and to write their status.
func Reconciled(group, resource, verbs string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{Rule(group, resource, verbs), Rule(group, resource+"/status", "patch")}
}

// Own allows to make an object of the resource the owner of others. If OwnerReferencesPermissionEnforcement is on, as in
// OpenShift, this lets them block the deletion of their owner. Owners are set only of what may be deleted.
func Own(group, resource string) rbacv1.PolicyRule {
	return Rule(group, resource+"/finalizers", "update")
}

// PodOwner allows what takes a controller that makes pods, claims and revisions
// for a workload. The verbs are those on the workload itself.
func PodOwner(group, resource, verbs string) []rbacv1.PolicyRule {
	return append(Reconciled(group, resource, verbs),
		Own(group, resource),
		// get and list find out what became of a write without an answer.
		Rule("", "pods", "get list watch create patch delete"),
		Rule("", "pods/status", "patch"),
		Rule("", "persistentvolumeclaims", "get list watch create patch delete"),
		Rule("apps", "controllerrevisions", "get list watch create patch delete"),
	)
}

// ResizePods allows to change cpu and memory of pods.
func ResizePods() rbacv1.PolicyRule { return Rule("", "pods/resize", "patch") }

// PullJobs allows to pull images ahead of updates.
func PullJobs(group string) rbacv1.PolicyRule {
	return Rule(group, "imagepulljobs", "list watch create delete")
}

// Of returns the rules that parts of a kind's options need, such as what it asks before an update. Each says so by a method Rules. One
// that has no such method, or is nil, needs none.
func Of(parts ...any) (rules []rbacv1.PolicyRule) {
	for _, part := range parts {
		if asks, ok := part.(interface{ Rules() []rbacv1.PolicyRule }); ok {
			rules = append(rules, asks.Rules()...)
		}
	}
	return rules
}

// If returns the rules if a condition holds, and none otherwise.
func If(condition bool, rules ...rbacv1.PolicyRule) []rbacv1.PolicyRule {
	if !condition {
		return nil
	}
	return rules
}

// JudgeTemplates allows to have pod templates judged, which a dry run creates.
func JudgeTemplates() rbacv1.PolicyRule { return Rule("", "podtemplates", "create") }
