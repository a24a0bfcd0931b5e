// SPDX-License-Identifier: Apache-2.0

package resource

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission. Only copies are listed
// and watched, by their label, but RBAC cannot tell them from other Secrets and ConfigMaps.
func Rules(o Options) []rbacv1.PolicyRule {
	const copies = "get list watch create update delete" // get finds out what has the name of a copy
	rules := append(manifests.Reconciled(v1alpha1.GroupName, "resourcedistributions", "list watch"),
		manifests.Own(v1alpha1.GroupName, "resourcedistributions"),
		manifests.Rule("", "namespaces", "list watch"),
		manifests.Rule("", "secrets", copies),
		manifests.Rule("", "configmaps", copies),
	)
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
