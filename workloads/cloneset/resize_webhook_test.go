// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/workloads/cloneset"
)

// IP-36: the right to resize pods is asked for if they are resized, and only then.
func TestRulesOfResizes(t *testing.T) {
	for _, on := range []bool{false, true} {
		rules := cloneset.Rules(cloneset.Options{Features: cloneset.Features{InPlaceResize: on}})
		if got := slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "pods/resize") }); got != on {
			t.Errorf("InPlaceResize %t: rules %v", on, rules)
		}
	}
}
