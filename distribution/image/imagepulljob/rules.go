// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission. NamespaceRules returns
// those that it needs in one namespace. CloneSets and StatefulSets are read if Workloads or their informer is given. If
// Options.Namespace is set, a Role is enough for all but nodeimages.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		append(manifests.Reconciled(v1alpha1.GroupName, "imagepulljobs", "get list watch patch delete"),
			manifests.Rule(v1alpha1.GroupName, "nodeimages", "list watch patch"),
			manifests.Rule("", "pods", "list watch"),
		),
		manifests.If(!o.ReferToSourceSecrets, manifests.Rule("", "secrets", "get")),
		manifests.If(o.Workloads != nil || o.CloneSets != nil, manifests.Rule(v1alpha1.GroupName, "clonesets", "list watch")),
		manifests.If(o.Workloads != nil || o.AdvancedStatefulSets != nil, manifests.Rule(v1alpha1.GroupName, "statefulsets", "list watch")),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
	)
}

// NamespaceRules returns those for a Role in one namespace, v1alpha1.DaemonConfigNamespace. (IMG-1.6)
func NamespaceRules(Options) (namespace string, rules []rbacv1.PolicyRule) {
	return v1alpha1.DaemonConfigNamespace, []rbacv1.PolicyRule{manifests.Rule("", "secrets", "get list watch create update delete")}
}
