// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// What Budget needs counts, if it says so by a method Rules, as a Guard does. If Options.Namespace is
// set, a Role is enough for all but nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	ofPods := manifests.PodOwner(v1alpha1.GroupName, "daemonsets", "get list watch")
	rules := slices.DeleteFunc(ofPods, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "persistentvolumeclaims") })
	rules = append(rules, manifests.Rule("", "nodes", "list watch"))
	rules = append(rules, manifests.If(o.Features.InPlaceResize, manifests.ResizePods())...)
	rules = append(rules, manifests.If(o.Features.PreDownload, manifests.PullJobs(v1alpha1.GroupName))...)
	return slices.Concat(rules, controller.EventRules(&o.ControllerOptions, o.Recorder), manifests.Of(o.Budget))
}
