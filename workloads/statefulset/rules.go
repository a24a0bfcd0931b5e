// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// What Budget and Placement need counts, if they say so by a method Rules, as those of this library do.
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		manifests.PodOwner(v1beta1.GroupName, "statefulsets", "get list watch"),
		manifests.If(o.Features.InPlaceResize, manifests.ResizePods()),
		manifests.If(o.Features.ResizeClaims, manifests.Rule("storage.k8s.io", "storageclasses", "get")),
		manifests.If(o.Features.PreDownload, manifests.PullJobs(v1beta1.GroupName)),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
		manifests.Of(o.Budget, o.Placement),
	)
}
