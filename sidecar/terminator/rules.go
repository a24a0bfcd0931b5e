// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, whether or not the Controller runs them; recording
// events counts if there is a Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. Nodes belong to no namespace: a
// Role does not cover them, even if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		// get finds out what became of a write without an answer.
		manifests.Rule("", "pods", "get list watch patch"),
		// Even with LeavePhase pods can ask for it. (ST-20)
		manifests.Rule("", "pods/status", "patch"),
		// If OwnerReferencesPermissionEnforcement is on, as in OpenShift, this
		// lets a request block the deletion of its pod.
		manifests.Rule("", "pods/finalizers", "update"),
		manifests.Rule("", "nodes", "list watch"),
		manifests.Rule(lifecyclev1alpha1.GroupName, "containerrecreaterequests", "get list watch create"),
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
