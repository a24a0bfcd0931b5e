// SPDX-License-Identifier: Apache-2.0

package image

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs in the
// whole cluster, and none beyond; NamespaceRules returns the others. Reading shared
// informers counts, even those of the caller; recording events counts if there is a
// Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. All rules take a ClusterRole:
// RBAC knows no nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "nodeimages", "list watch"),
		manifests.Rule(v1alpha1.GroupName, "nodeimages/status", "patch"),
	}
	if o.ReadSourceSecrets {
		rules = append(rules, manifests.Rule("", "secrets", "get"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}

// NamespaceRules returns the RBAC rules that a Controller with these options needs
// in one namespace, v1alpha1.DaemonConfigNamespace: a Role there is enough. Of
// secrets only those are read that a task names. (IMG-3.11)
func NamespaceRules(Options) (namespace string, rules []rbacv1.PolicyRule) {
	return v1alpha1.DaemonConfigNamespace, []rbacv1.PolicyRule{manifests.Rule("", "secrets", "get")}
}
