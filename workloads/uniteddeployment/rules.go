// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, also those that the caller runs. Recording
// events counts if there is a Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. A Role is enough if
// Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	const own = "get list watch create patch delete"
	rules := []rbacv1.PolicyRule{
		// get finds out whether the cache is behind, before anything is deleted.
		manifests.Rule(v1alpha1.GroupName, "uniteddeployments", "get list watch"),
		manifests.Rule(v1alpha1.GroupName, "uniteddeployments/status", "patch"),
		// If OwnerReferencesPermissionEnforcement is on, as in OpenShift, this
		// lets a workload block the deletion of its owner.
		manifests.Rule(v1alpha1.GroupName, "uniteddeployments/finalizers", "update"),
		manifests.Rule("apps", "controllerrevisions", own),
	}
	pods := "list watch"
	for _, of := range []struct {
		kind            TemplateKind
		group, resource string
	}{
		{StatefulSet, "apps", "statefulsets"}, {AdvancedStatefulSet, v1alpha1.GroupName, "statefulsets"},
		{CloneSet, v1alpha1.GroupName, "clonesets"}, {Deployment, "apps", "deployments"},
	} {
		if has(o.Without, of.kind) {
			continue
		}
		rules = append(rules, manifests.Rule(of.group, of.resource, own))
		if of.kind == StatefulSet { // (UD-11)
			pods = "get list watch delete"
		}
	}
	if o.Features.AdaptiveScheduling { // get finds out what became of a patch without an answer (UD-21.3)
		pods = "get " + strings.TrimPrefix(strings.Replace(pods, "watch", "watch patch", 1), "get ")
	}
	rules = append(rules, manifests.Rule("", "pods", pods))
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
