// SPDX-License-Identifier: Apache-2.0

package image

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission. NamespaceRules returns
// those that it needs in one namespace. All rules take a ClusterRole: RBAC knows no nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		manifests.Reconciled(v1alpha1.GroupName, "nodeimages", "list watch"),
		manifests.If(o.ReadSourceSecrets, manifests.Rule("", "secrets", "get")),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
	)
}

// NamespaceRules returns those for a Role in v1alpha1.DaemonConfigNamespace. It gets only secrets that a task names. (IMG-3.11)
func NamespaceRules(Options) (namespace string, rules []rbacv1.PolicyRule) {
	return v1alpha1.DaemonConfigNamespace, []rbacv1.PolicyRule{manifests.Rule("", "secrets", "get")}
}
