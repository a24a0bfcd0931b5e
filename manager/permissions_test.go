// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/testing/patches"
)

func rule(verbs, group, resource string, names ...string) rbacv1.PolicyRule {
	r := manifests.Rule(group, resource, verbs)
	r.ResourceNames = names
	return r
}

// TestAllows shows what a part may do in the namespace shop: there it has rules about the status of Deployments, and about the Secret a.
func TestAllows(t *testing.T) {
	part := Part{Namespace: "shop", Rules: []rbacv1.PolicyRule{
		rule("get patch", "apps", "deployments/status"),
		rule("get", "", "secrets", "a"),
	}}
	type row struct{ Verb, Group, Resource, Namespace, Name string }
	patches.PlayRows(t, "testdata/allows.txt", nil, func(_ *testing.T, _ string, r *row) string {
		return fmt.Sprint(part.Allows(r.Verb, r.Group, r.Resource, r.Namespace, r.Name))
	})
}

// Rules of several parts are one rule for each resource, and a role for each
// namespace; a part without rules adds nothing.
func TestRBAC(t *testing.T) {
	got, err := YAML(RBAC("prog", "own", []Part{
		{Name: "b", Rules: []rbacv1.PolicyRule{rule("patch list", "", "pods")}},
		{Name: "a", Rules: []rbacv1.PolicyRule{rule("watch list", "", "pods")}},
		{Name: "idle", Namespace: "elsewhere"},
		{Namespace: "own", Rules: []rbacv1.PolicyRule{rule("create", "", "secrets"), rule("get", "", "secrets", "certs")}},
	})...)
	want, missing := os.ReadFile("testdata/rbac.yaml")
	if diff := cmp.Diff(string(want), string(got)); err != nil || missing != nil || diff != "" {
		t.Errorf("errors %v, %v (-want +got):\n%s", err, missing, diff)
	}
}
