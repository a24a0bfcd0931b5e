// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// If Options.Namespace is set, a Role is enough for all but nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		// get finds out what became of a write without an answer.
		manifests.Rule("", "pods", "get list watch patch"),
		// Even with LeavePhase pods can ask for it. (ST-20)
		manifests.Rule("", "pods/status", "patch"),
		manifests.Own("", "pods"),
		manifests.Rule("", "nodes", "list watch"),
		manifests.Rule(lifecyclev1alpha1.GroupName, "containerrecreaterequests", "get list watch create"),
	}
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
