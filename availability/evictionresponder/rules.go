// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and none
// beyond. Reading shared informers counts, whether or not the Controller runs them; recording events counts
// if there is a Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. A Role is enough if
// Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		// get finds out what became of a write without an answer, and whether a pod is gone.
		manifests.Rule(SchemeGroupVersion.Group, resource, "get list watch"),
		manifests.Rule(SchemeGroupVersion.Group, resource+"/status", "patch"),
		manifests.Rule("", "pods", "get list watch patch"),
		manifests.Rule("", "pods/eviction", "create"),
	}
	if o.Workloads != nil || o.CloneSets != nil {
		rules = append(rules, manifests.Rule(workloadsv1alpha1.GroupName, "clonesets", "list watch"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
