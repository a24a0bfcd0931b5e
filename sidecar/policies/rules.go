// SPDX-License-Identifier: Apache-2.0

package policies

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and none
// beyond; NamespaceRules returns the others.
// Reading shared informers counts, whether or not the controller runs them; recording events counts if there is a
// Recorder. Every call returns new rules. No client of the options is asked anything.
//
// A client that may write policies may change every object that is created. Keep the account of the
// manager as you keep that of an administrator.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "sidecarsets", "list watch"),
		// If OwnerReferencesPermissionEnforcement is on, as in OpenShift, this
		// lets a policy block the deletion of its owner.
		manifests.Rule(v1alpha1.GroupName, "sidecarsets/finalizers", "update"),
		// get and list find out what became of a write without an answer.
		manifests.Rule(admissionregistrationv1.GroupName, string(resourcePolicies), "get list watch create update delete"),
		manifests.Rule(admissionregistrationv1.GroupName, string(resourceBindings), "get list watch create update delete"),
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}

// NamespaceRules returns the RBAC rules that a Controller with these options needs
// in one namespace, that of the revisions, for a Role there.
func NamespaceRules(o Options) (namespace string, rules []rbacv1.PolicyRule) {
	return o.namespace(), []rbacv1.PolicyRule{manifests.Rule("apps", "controllerrevisions", "list watch")}
}
