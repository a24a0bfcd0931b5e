// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, also those that the caller runs. Recording
// events counts if there is a Recorder. Every call returns new rules.
// What Budget and Placement need counts, if they say so by a method Rules, as those of this library do.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. Resources without a namespace
// (nodes) take a ClusterRole; for all others a Role is enough if Options.Namespace
// is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := manifests.PodOwner(v1alpha1.GroupName, "clonesets", "list watch patch")
	if !o.NoNodes {
		rules = append(rules, manifests.Rule("", "nodes", "list watch"))
	}
	if o.Features.InPlaceResize {
		rules = append(rules, manifests.ResizePods())
	}
	if o.Features.PreDownload {
		rules = append(rules, manifests.PullJobs(v1alpha1.GroupName))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return append(rules, manifests.Of(o.Budget, o.Placement)...)
}

// Rules returns the RBAC rules that the webhook needs. For Templates it creates
// pod templates, which a dry run does, and for Pods it gets pods. Nil fields
// need none.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	if w.Templates != nil {
		rules = append(rules, manifests.Rule("", "podtemplates", "create"))
	}
	if w.Pods != nil {
		rules = append(rules, manifests.Rule("", "pods", "get"))
	}
	return rules
}
