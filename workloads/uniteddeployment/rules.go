// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs; see podwright.Permission.
// A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	const own = "get list watch create patch delete"
	uses := func(kind TemplateKind) bool { return !has(o.Without, kind) }
	pods := "list watch"
	if uses(StatefulSet) { // (UD-11)
		pods = "get list watch delete"
	}
	if o.Features.AdaptiveScheduling { // get finds out what became of a patch without an answer (UD-21.3)
		pods = "get " + strings.TrimPrefix(strings.Replace(pods, "watch", "watch patch", 1), "get ")
	}
	return slices.Concat(
		append(
			// get finds out whether the cache is behind, before anything is deleted.
			manifests.Reconciled(v1alpha1.GroupName, "uniteddeployments", "get list watch"),
			manifests.Own(v1alpha1.GroupName, "uniteddeployments"),
			manifests.Rule("apps", "controllerrevisions", own),
		),
		manifests.If(uses(StatefulSet), manifests.Rule("apps", "statefulsets", own)),
		manifests.If(uses(AdvancedStatefulSet), manifests.Rule(v1alpha1.GroupName, "statefulsets", own)),
		manifests.If(uses(CloneSet), manifests.Rule(v1alpha1.GroupName, "clonesets", own)),
		manifests.If(uses(Deployment), manifests.Rule("apps", "deployments", own)),
		[]rbacv1.PolicyRule{manifests.Rule("", "pods", pods)},
		controller.EventRules(&o.ControllerOptions, o.Recorder),
	)
}
