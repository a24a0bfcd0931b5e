// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that the webhook needs: to list pods and its
// Resources, in all namespaces, for List, and claims for Claims. Without it, and if the webhook is
// disabled, it needs none. (DP-9)
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	if w.Disabled || w.List == nil {
		return nil
	}
	rules := []rbacv1.PolicyRule{manifests.Rule("", "pods", "list")}
	if w.Claims != nil {
		rules = append(rules, manifests.Rule("", "persistentvolumeclaims", "list"))
	}
	if w.NoDefinitions {
		return rules
	}
	for _, r := range w.Resources {
		rules = append(rules, manifests.Rule(r.Group, r.Resource, "list"))
	}
	return rules
}
