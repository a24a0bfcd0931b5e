// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, also those that the caller runs. Every call
// returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. Resources without a namespace
// (nodes) take a ClusterRole; for all others a Role is enough if
// Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "broadcastjobs", "list watch delete"),
		manifests.Rule(v1alpha1.GroupName, "broadcastjobs/status", "patch"),
		// If OwnerReferencesPermissionEnforcement is on, as in OpenShift, this
		// lets a pod block the deletion of its owner.
		manifests.Rule(v1alpha1.GroupName, "broadcastjobs/finalizers", "update"),
		// get finds out what became of a write without an answer.
		manifests.Rule("", "pods", "get list watch create delete"),
		manifests.Rule("", "nodes", "list watch"),
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}

// Rules returns the RBAC rules that the webhook needs: for Templates to create
// pod templates, which a dry run does. Nil needs none.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	if w.Templates == nil {
		return nil
	}
	return []rbacv1.PolicyRule{manifests.Rule("", "podtemplates", "create")}
}
