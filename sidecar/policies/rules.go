// SPDX-License-Identifier: Apache-2.0

package policies

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission. A client that may write
// policies may change every object that is created. Keep the account of the manager as you keep that of an administrator.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "sidecarsets", "list watch"),
		manifests.Own(v1alpha1.GroupName, "sidecarsets"),
		// get and list find out what became of a write without an answer.
		manifests.Rule(admissionregistrationv1.GroupName, string(resourcePolicies), "get list watch create update delete"),
		manifests.Rule(admissionregistrationv1.GroupName, string(resourceBindings), "get list watch create update delete"),
	}
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}

// NamespaceRules returns those for a Role in one namespace, that of the revisions.
func NamespaceRules(o Options) (namespace string, rules []rbacv1.PolicyRule) {
	return o.namespace(), []rbacv1.PolicyRule{manifests.Rule("apps", "controllerrevisions", "list watch")}
}
