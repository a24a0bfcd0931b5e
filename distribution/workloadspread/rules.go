// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, whether or not the Controller runs them; recording
// events counts if there is a Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. A Role is enough if
// Options.Namespace is set and NoNodes too.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		// get is for a Placer, which reads a spread again after a conflict.
		manifests.Rule(v1alpha1.GroupName, "workloadspreads", "get list watch"),
		manifests.Rule(v1alpha1.GroupName, "workloadspreads/status", "patch"),
		manifests.Rule("", "pods", "get list watch patch delete"),
		manifests.Rule("apps", "deployments", "list watch"),
		manifests.Rule("apps", "replicasets", "list watch"),
		manifests.Rule("apps", "statefulsets", "list watch"),
		manifests.Rule("batch", "jobs", "list watch"),
	}
	if o.Workloads != nil || o.CloneSets != nil {
		rules = append(rules, manifests.Rule(workloadsv1alpha1.GroupName, "clonesets", "list watch"))
	}
	if o.Workloads != nil || o.AdvancedStatefulSets != nil {
		rules = append(rules, manifests.Rule(workloadsv1alpha1.GroupName, "statefulsets", "list watch"))
	}
	for i := range o.Custom {
		rules = append(rules, CustomRules(o.Custom[i].groupResource())...)
	}
	if !o.NoNodes {
		rules = append(rules, manifests.Rule("", "nodes", "list watch"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
