// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and none
// beyond. Reading shared informers counts, even those of the caller; recording events counts
// if there is a Recorder. Every call returns new rules.
//
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "containerrecreaterequests", "list watch patch delete"),
		manifests.Rule(v1alpha1.GroupName, "containerrecreaterequests/status", "patch"),
		manifests.Rule("", "pods", "get list watch"),
		manifests.Rule("", "pods/status", "patch"),
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}

// Rules returns the RBAC rules that the webhook needs: for Pods to get pods, and for Nodes to
// get nodes. Without both it needs none.
func (w *Webhook) Rules() (rules []rbacv1.PolicyRule) {
	if w.Pods != nil {
		rules = append(rules, manifests.Rule("", "pods", "get"))
	}
	if w.Nodes != nil {
		rules = append(rules, manifests.Rule("", "nodes", "get"))
	}
	return rules
}
