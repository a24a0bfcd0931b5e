// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// If Options.Namespace is set, a Role is enough for all but nodes and nodepodprobes.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule("", "nodes", "get list watch"),
		manifests.Rule(v1alpha1.GroupName, "nodepodprobes", "list watch create patch delete"),
		manifests.Rule(v1alpha1.GroupName, "podprobemarkers", "list watch"),
		// get finds out what became of a write without an answer.
		manifests.Rule("", "pods", "get list watch"),
		manifests.Rule("", "pods/status", "patch"),
	}
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
