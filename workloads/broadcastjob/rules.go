// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// If Options.Namespace is set, a Role is enough for all but nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := append(manifests.Reconciled(v1alpha1.GroupName, "broadcastjobs", "list watch delete"),
		manifests.Own(v1alpha1.GroupName, "broadcastjobs"),
		// get finds out what became of a write without an answer.
		manifests.Rule("", "pods", "get list watch create delete"),
		manifests.Rule("", "nodes", "list watch"),
	)
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
