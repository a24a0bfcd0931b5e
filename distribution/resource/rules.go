// SPDX-License-Identifier: Apache-2.0

package resource

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, whether or not the Controller runs them; recording
// events counts if there is a Recorder. Every call returns new rules.
//
// Only copies are listed and watched, by their label, but RBAC cannot tell them from other
// Secrets and ConfigMaps. The options need not be complete, and no client of them is
// asked anything, so that a manifest can be written without a cluster.
func Rules(o Options) []rbacv1.PolicyRule {
	const copies = "get list watch create update delete" // get finds out what has the name of a copy
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "resourcedistributions", "list watch"),
		manifests.Rule(v1alpha1.GroupName, "resourcedistributions/status", "patch"),
		// If OwnerReferencesPermissionEnforcement is on, as in OpenShift, this
		// lets a copy block the deletion of its owner.
		manifests.Rule(v1alpha1.GroupName, "resourcedistributions/finalizers", "update"),
		manifests.Rule("", "namespaces", "list watch"),
		manifests.Rule("", "secrets", copies),
		manifests.Rule("", "configmaps", copies),
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
