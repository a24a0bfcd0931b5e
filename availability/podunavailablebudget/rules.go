// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// What Options.Scales asks is not among them: for those of
// NewScales that is what ScaleRules returns. A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	return slices.Concat(
		append(
			// get is for a Guard in the same program, which reads a budget past its cache.
			manifests.Reconciled(v1alpha1.GroupName, "podunavailablebudgets", "get list watch"),
			manifests.Rule("", "pods", "get list watch patch"),
		),
		manifests.Watch("apps", "deployments", "replicasets", "statefulsets"), manifests.Watch("", "replicationcontrollers"),
		manifests.If(o.Workloads != nil || o.CloneSets != nil, manifests.Watch(workloadsv1alpha1.GroupName, "clonesets")...),
		manifests.If(o.Workloads != nil || o.AdvancedStatefulSets != nil, manifests.Watch(workloadsv1alpha1.GroupName, "statefulsets")...),
		// get finds out what became of a write without an answer.
		manifests.If(o.Mirror != MirrorNone, manifests.Own(v1alpha1.GroupName, "podunavailablebudgets"),
			manifests.Rule(policyv1.GroupName, string(ResourcePodDisruptionBudgets), "get list watch create patch delete")),
		controller.EventRules(&o.ControllerOptions, o.Recorder),
	)
}
