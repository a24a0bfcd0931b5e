// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// All rules take a ClusterRole: RBAC knows no nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := manifests.Reconciled(v1alpha1.GroupName, "containerrecreaterequests", "list watch patch")
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
