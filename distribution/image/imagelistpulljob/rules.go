// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := append(manifests.Reconciled(v1alpha1.GroupName, "imagelistpulljobs", "list watch delete"),
		manifests.Own(v1alpha1.GroupName, "imagelistpulljobs"),
		manifests.Rule(v1alpha1.GroupName, "imagepulljobs", "get list watch create patch delete"),
	)
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
