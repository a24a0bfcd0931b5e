// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and none
// beyond; NamespaceRules returns the others. Reading shared informers counts, whether or not the Controller runs
// them; recording events counts if there is a Recorder. Every call returns new rules.
// What Budget needs counts, if it says so by a method Rules, as a Guard does.
//
// The options need not be complete, and no client of them is asked anything, so that a manifest can
// be written without a cluster. SidecarSets and namespaces take a ClusterRole. For pods and events
// a Role is enough if Options.Namespace is set. Then events about SidecarSets, which are recorded
// in the namespace default, are lost.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "sidecarsets", "get list watch"),
		manifests.Rule(v1alpha1.GroupName, "sidecarsets/status", "patch"),
		// If OwnerReferencesPermissionEnforcement is on, as in OpenShift, this lets a
		// revision block the deletion of its SidecarSet.
		manifests.Rule(v1alpha1.GroupName, "sidecarsets/finalizers", "update"),
		manifests.Rule("", "pods", "get list watch patch"),
		manifests.Rule("", "namespaces", "list watch"),
	}
	if o.Features.UpgradableCondition {
		rules = append(rules, manifests.Rule("", "pods/status", "patch"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return append(rules, manifests.Of(o.Budget)...)
}

// NamespaceRules returns the RBAC rules that a Controller with these options needs
// in one namespace, that of the revisions, for a Role there.
func NamespaceRules(o Options) (namespace string, rules []rbacv1.PolicyRule) {
	return o.namespace(), []rbacv1.PolicyRule{manifests.Rule("apps", "controllerrevisions", "get list watch create patch delete")}
}

// Rules returns the RBAC rules that the caches need, and none beyond, for a ClusterRole;
// NamespaceRules returns the others. Recording events counts if there is a Recorder.
func (c *AdmissionCaches) Rules() []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "sidecarsets", "list watch"),
		manifests.Rule("", "namespaces", "list watch"),
	}
	if c.options.Recorder != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}

// NamespaceRules returns the RBAC rules that the caches need in one namespace, that of
// the revisions and the white list, for a Role there.
func (c *AdmissionCaches) NamespaceRules() (namespace string, rules []rbacv1.PolicyRule) {
	configuration := manifests.Rule("", "configmaps", "get")
	configuration.ResourceNames = []string{whitelistConfigMap}
	return c.options.ManagerNamespace, []rbacv1.PolicyRule{manifests.Rule("apps", "controllerrevisions", "list watch"), configuration}
}

// Rules returns the RBAC rules that the webhook needs beside those of its Reader: for
// Containers to create pod templates, which a dry run does.
func (w *Webhook) Rules() []rbacv1.PolicyRule { return w.Containers.Rules() }
