// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		append(
			// get and list find out what became of a write without an answer.
			manifests.Reconciled(v1alpha1.GroupName, "advancedcronjobs", "get list watch patch"),
			manifests.Own(v1alpha1.GroupName, "advancedcronjobs"),
			// patch gives a job its time to live that was refused before.
			manifests.Rule("batch", "jobs", "get list watch create patch delete"),
		),
		manifests.If(!o.NoBroadcastJobs, manifests.Rule(v1alpha1.GroupName, "broadcastjobs", "get list watch create patch delete")),
		manifests.If(o.Distribution != nil, manifests.Rule(v1alpha1.GroupName, "imagelistpulljobs", "get list watch create patch delete")),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
	)
}
