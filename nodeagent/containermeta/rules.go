// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, even those of the caller; recording
// events counts if there is a Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. All rules take a ClusterRole:
// RBAC knows no nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{manifests.Rule("", "pods/status", "patch")}
	if !o.PodsOfKubelet {
		rules = append(rules, manifests.Rule("", "pods", "list watch"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
