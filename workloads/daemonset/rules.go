// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, also those that the caller runs. Recording
// events counts if there is a Recorder. Every call returns new rules.
// What Budget needs counts, if it says so by a method Rules, as a Guard does.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. Resources without a namespace
// (nodes) take a ClusterRole; for all others a Role is enough if
// Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	ofPods := manifests.PodOwner(v1alpha1.GroupName, "daemonsets", "get list watch")
	rules := slices.DeleteFunc(ofPods, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "persistentvolumeclaims") })
	rules = append(rules, manifests.Rule("", "nodes", "list watch"))
	if o.Features.InPlaceResize {
		rules = append(rules, manifests.ResizePods())
	}
	if o.Features.PreDownload {
		rules = append(rules, manifests.PullJobs(v1alpha1.GroupName))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return append(rules, manifests.Of(o.Budget)...)
}

// Rules returns the RBAC rules that the webhook needs: for Templates to create
// pod templates, which a dry run does. Nil needs none.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	if w.Templates == nil {
		return nil
	}
	return []rbacv1.PolicyRule{manifests.Rule("", "podtemplates", "create")}
}
