// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// All rules take a ClusterRole: nodes have tasks of jobs of all namespaces, and events about NodeImages
// are recorded in the namespace default.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		[]rbacv1.PolicyRule{
			manifests.Rule("", "nodes", "get list watch"),
			manifests.Rule(v1alpha1.GroupName, "nodeimages", "list watch create patch delete"),
			manifests.Rule(v1alpha1.GroupName, "nodeimages/status", "patch"),
			manifests.Rule(v1alpha1.GroupName, "imagepulljobs", "get list watch"),
		},
		manifests.If(o.PullPods != nil, manifests.Rule("", "pods", "list watch create delete")),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
	)
}
