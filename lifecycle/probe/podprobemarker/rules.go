// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// If Options.Namespace is set, a Role is enough for all but nodepodprobes.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := append(manifests.Reconciled(v1alpha1.GroupName, "podprobemarkers", "list watch patch"),
		manifests.Rule(v1alpha1.GroupName, "nodepodprobes", "list watch"),
		manifests.Rule("", "pods", "list watch"),
	)
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
