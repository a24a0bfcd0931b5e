// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, whether or not the Controller runs them; recording
// events counts if there is a Recorder. What Options.Scales asks is not among them: for those of
// NewScales that is what ScaleRules returns. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. A Role is enough if
// Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		// get is for a Guard in the same program, which reads a budget past its cache.
		manifests.Rule(v1alpha1.GroupName, "podunavailablebudgets", "get list watch"),
		manifests.Rule(v1alpha1.GroupName, "podunavailablebudgets/status", "patch"),
		manifests.Rule("", "pods", "get list watch patch"),
		manifests.Rule("apps", "deployments", "list watch"),
		manifests.Rule("apps", "replicasets", "list watch"),
		manifests.Rule("apps", "statefulsets", "list watch"),
		manifests.Rule("", "replicationcontrollers", "list watch"),
	}
	if o.Workloads != nil || o.CloneSets != nil {
		rules = append(rules, manifests.Rule(workloadsv1alpha1.GroupName, "clonesets", "list watch"))
	}
	if o.Workloads != nil || o.AdvancedStatefulSets != nil {
		rules = append(rules, manifests.Rule(workloadsv1alpha1.GroupName, "statefulsets", "list watch"))
	}
	if o.Mirror != MirrorNone {
		rules = append(rules,
			// If OwnerReferencesPermissionEnforcement is on, as in OpenShift, this lets a
			// PodDisruptionBudget block the deletion of its owner.
			manifests.Rule(v1alpha1.GroupName, "podunavailablebudgets/finalizers", "update"),
			// get finds out what became of a write without an answer.
			manifests.Rule(policyv1.GroupName, string(ResourcePodDisruptionBudgets), "get list watch create patch delete"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}

// Rules returns the RBAC rules that a Guard needs, and none beyond. Reading the cache of budgets counts. Rules of workloads and
// SidecarSets include them, if their option Budget is a Guard.
func (g *Guard) Rules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "podunavailablebudgets", "get list watch"),
		manifests.Rule(v1alpha1.GroupName, "podunavailablebudgets/status", "patch"),
	}
}
