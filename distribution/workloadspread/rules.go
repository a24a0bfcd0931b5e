// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// A Role is enough if Options.Namespace is set and NoNodes too.
func Rules(o Options) []rbacv1.PolicyRule {
	// get of spreads is for a Placer, which reads one again after a conflict.
	rules := append(manifests.Reconciled(v1alpha1.GroupName, "workloadspreads", "get list watch"), manifests.Rule("", "pods", "get list watch patch delete"))
	rules = slices.Concat(rules, manifests.Watch("apps", "deployments", "replicasets", "statefulsets"), manifests.Watch("batch", "jobs"),
		manifests.If(o.Workloads != nil || o.CloneSets != nil, manifests.Watch(workloadsv1alpha1.GroupName, "clonesets")...),
		manifests.If(o.Workloads != nil || o.AdvancedStatefulSets != nil, manifests.Watch(workloadsv1alpha1.GroupName, "statefulsets")...))
	for i := range o.Custom {
		rules = append(rules, CustomRules(o.Custom[i].groupResource())...)
	}
	return slices.Concat(rules, manifests.If(!o.NoNodes, manifests.Watch("", "nodes")...), controller.EventRules(&o.ControllerOptions, o.Recorder))
}
