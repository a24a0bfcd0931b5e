// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller needs, and none beyond, whatever
// its options are. Reading shared informers counts, whoever runs them. Every call
// returns new rules.
//
// A Role is enough where Options.Namespace is set.
func Rules(Options) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		manifests.Rule("", "pods", "list watch"),
		manifests.Rule("", "pods/status", "patch"),
	}
}
