// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs, and none beyond; NamespaceRules returns the others. Reading
// shared informers counts, whether or not the Controller runs them. CloneSets and StatefulSets are read if Workloads or their informer is
// given. Recording events counts if there is a Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. Resources without a namespace
// (nodeimages) take a ClusterRole; for all others a Role is enough if
// Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "imagepulljobs", "get list watch patch delete"),
		manifests.Rule(v1alpha1.GroupName, "imagepulljobs/status", "patch"),
		manifests.Rule(v1alpha1.GroupName, "nodeimages", "list watch patch"),
		manifests.Rule("", "pods", "list watch"),
	}
	if !o.ReferToSourceSecrets {
		rules = append(rules, manifests.Rule("", "secrets", "get"))
	}
	if o.Workloads != nil || o.CloneSets != nil {
		rules = append(rules, manifests.Rule(v1alpha1.GroupName, "clonesets", "list watch"))
	}
	if o.Workloads != nil || o.AdvancedStatefulSets != nil {
		rules = append(rules, manifests.Rule(v1alpha1.GroupName, "statefulsets", "list watch"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}

// NamespaceRules returns the RBAC rules that a Controller with these options needs
// in one namespace, v1alpha1.DaemonConfigNamespace, for a Role there. (IMG-1.6)
func NamespaceRules(Options) (namespace string, rules []rbacv1.PolicyRule) {
	return v1alpha1.DaemonConfigNamespace, []rbacv1.PolicyRule{manifests.Rule("", "secrets", "get list watch create update delete")}
}
