// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission. NamespaceRules returns
// those that it needs in one namespace. What Budget needs counts, if it says so by a method Rules, as a Guard does.
// SidecarSets and namespaces take a ClusterRole. For pods and events a Role is enough if Options.Namespace is set. Then
// events about SidecarSets, which are recorded in the namespace default, are lost.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		append(manifests.Reconciled(v1alpha1.GroupName, "sidecarsets", "get list watch"),
			manifests.Own(v1alpha1.GroupName, "sidecarsets"),
			manifests.Rule("", "pods", "get list watch patch"),
			manifests.Rule("", "namespaces", "list watch"),
		),
		manifests.If(o.Features.UpgradableCondition, manifests.Rule("", "pods/status", "patch")),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
		manifests.Of(o.Budget),
	)
}

// NamespaceRules returns those for a Role in one namespace, that of the revisions.
func NamespaceRules(o Options) (namespace string, rules []rbacv1.PolicyRule) {
	return o.namespace(), []rbacv1.PolicyRule{manifests.Rule("apps", "controllerrevisions", "get list watch create patch delete")}
}
