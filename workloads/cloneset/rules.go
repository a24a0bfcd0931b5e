// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// What Budget and Placement need counts, if they say so by a method Rules, as those of this library do.
// If Options.Namespace is set, a Role is enough for all but nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		manifests.PodOwner(v1alpha1.GroupName, "clonesets", "list watch patch"),
		manifests.If(!o.NoNodes, manifests.Rule("", "nodes", "list watch")),
		manifests.If(o.Features.InPlaceResize, manifests.ResizePods()),
		manifests.If(o.Features.PreDownload, manifests.PullJobs(v1alpha1.GroupName)),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
		manifests.Of(o.Budget, o.Placement),
	)
}
