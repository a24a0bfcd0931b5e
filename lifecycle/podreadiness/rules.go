// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs, and none
// beyond. Reading shared informers counts, even those of the caller; recording events counts
// if there is a Recorder. Every call returns new rules.
//
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule("", "pods", "list watch"),
		manifests.Rule("", "pods/status", "patch"),
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
