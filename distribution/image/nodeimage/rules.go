// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, whether or not the Controller runs them; recording
// events counts if there is a Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. All rules take a ClusterRole:
// nodes have tasks of jobs of all namespaces, and events about NodeImages are
// recorded in the namespace default.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule("", "nodes", "get list watch"),
		manifests.Rule(v1alpha1.GroupName, "nodeimages", "list watch create patch delete"),
		manifests.Rule(v1alpha1.GroupName, "nodeimages/status", "patch"),
		manifests.Rule(v1alpha1.GroupName, "imagepulljobs", "get list watch"),
	}
	if o.PullPods != nil {
		rules = append(rules, manifests.Rule("", "pods", "list watch create delete"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
