// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, also those that the caller runs. Recording
// events counts if there is a Recorder. Every call returns new rules.
// What Budget and Placement need counts, if they say so by a method Rules, as those of this library do.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. A Role is enough if
// Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := manifests.PodOwner(v1beta1.GroupName, "statefulsets", "get list watch")
	if o.Features.InPlaceResize {
		rules = append(rules, manifests.ResizePods())
	}
	if o.Features.ResizeClaims {
		rules = append(rules, manifests.Rule("storage.k8s.io", "storageclasses", "get"))
	}
	if o.Features.PreDownload {
		rules = append(rules, manifests.PullJobs(v1beta1.GroupName))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return append(rules, manifests.Of(o.Budget, o.Placement)...)
}

// Rules returns the RBAC rules that the webhook needs: for Templates to create
// pod templates, which a dry run does, and for StorageClasses to read them. Without either it needs none.
func (w *Webhook) Rules() (rules []rbacv1.PolicyRule) {
	if w.Templates != nil {
		rules = append(rules, manifests.Rule("", "podtemplates", "create"))
	}
	if w.StorageClasses != nil && w.Features.ResizeClaims {
		rules = append(rules, manifests.Rule("storage.k8s.io", "storageclasses", "get list"))
	}
	return rules
}
