// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// If Options.Namespace is set, a Role is enough for all but nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := append(
		// get finds out what became of a write without an answer.
		manifests.Reconciled(v1alpha1.GroupName, "persistentpodstates", "get list watch create patch delete"),
		manifests.Rule("", "pods", "get list watch delete"),
		manifests.Rule("", "nodes", "list watch"),
		manifests.Rule(statefulSets.Group, "statefulsets", "list watch"),
	)
	rules = append(rules, manifests.If(o.Workloads != nil || o.AdvancedStatefulSets != nil, manifests.Rule(workloadsv1beta1.GroupName, "statefulsets", "list watch"))...)
	for i := range o.Custom {
		rules = append(rules, manifests.Rule(o.Custom[i].Kind.Group, o.Custom[i].Resource, "list watch"))
	}
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
