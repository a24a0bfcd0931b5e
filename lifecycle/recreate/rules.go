// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Rules returns the RBAC rules that a Controller needs, and none beyond, whatever
// its options are. Reading shared informers counts, whoever runs them. Every call
// returns new rules.
//
// A Role is enough where Options.Namespace is set.
func Rules(Options) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "containerrecreaterequests", "list watch patch delete"),
		manifests.Rule(v1alpha1.GroupName, "containerrecreaterequests/status", "patch"),
		manifests.Rule("", "pods", "get list watch"),
		manifests.Rule("", "pods/status", "patch"),
	}
}

// Rules returns the RBAC rules that the webhook needs: for Pods to get pods.
// Without Pods it needs none.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	if w.Pods == nil {
		return nil
	}
	return []rbacv1.PolicyRule{manifests.Rule("", "pods", "get")}
}
