// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, whether or not the Controller runs them; recording
// events counts if there is a Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. If Options.Namespace is set, a Role is
// enough for all but nodes.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		// get finds out what became of a write without an answer.
		manifests.Rule(v1alpha1.GroupName, "persistentpodstates", "get list watch create patch delete"),
		manifests.Rule(v1alpha1.GroupName, "persistentpodstates/status", "patch"),
		manifests.Rule("", "pods", "get list watch delete"),
		manifests.Rule("", "nodes", "list watch"),
		manifests.Rule(statefulSets.Group, "statefulsets", "list watch"),
	}
	if o.Workloads != nil || o.AdvancedStatefulSets != nil {
		rules = append(rules, manifests.Rule(workloadsv1beta1.GroupName, "statefulsets", "list watch"))
	}
	for i := range o.Custom {
		rules = append(rules, manifests.Rule(o.Custom[i].Kind.Group, o.Custom[i].Resource, "list watch"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
