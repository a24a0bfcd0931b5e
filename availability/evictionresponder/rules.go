// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		[]rbacv1.PolicyRule{
			// get finds out what became of a write without an answer, and whether a pod is gone.
			manifests.Rule(SchemeGroupVersion.Group, resource, "get list watch"),
			manifests.Rule(SchemeGroupVersion.Group, resource+"/status", "patch"),
			manifests.Rule("", "pods", "get list watch patch"),
			manifests.Rule("", "pods/eviction", "create"),
		},
		manifests.If(o.Workloads != nil || o.CloneSets != nil, manifests.Rule(workloadsv1alpha1.GroupName, "clonesets", "list watch")),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
	)
}
