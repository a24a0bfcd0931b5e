// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// All rules take a ClusterRole: RBAC knows no nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		[]rbacv1.PolicyRule{manifests.Rule("", "pods/status", "patch")},
		manifests.If(!o.PodsOfKubelet, manifests.Rule("", "pods", "list watch")),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
	)
}
