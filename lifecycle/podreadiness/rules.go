// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := manifests.Reconciled("", "pods", "list watch")
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
