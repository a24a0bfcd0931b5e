// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		[]rbacv1.PolicyRule{
			manifests.Rule("", "pods", "list watch"),
			manifests.Rule("", "configmaps", "get create patch"),
		},
		manifests.If(o.Features.MarkCompleted, manifests.Rule("", "pods", "patch")),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
	)
}
