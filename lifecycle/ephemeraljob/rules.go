// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := append(
		// get finds out what became of a write without an answer.
		manifests.Reconciled(v1alpha1.GroupName, "ephemeraljobs", "get list watch patch delete"),
		manifests.Rule("", "pods", "get list watch"),
		manifests.Rule("", "pods/ephemeralcontainers", "patch"),
	)
	return append(rules, controller.EventRules(&o.ControllerOptions, o.Recorder)...)
}
