// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
)

func rule(verbs, group, resource string, names ...string) rbacv1.PolicyRule {
	r := manifests.Rule(group, resource, verbs)
	r.ResourceNames = names
	return r
}

func TestAllows(t *testing.T) {
	part := Part{Namespace: "shop", Rules: []rbacv1.PolicyRule{
		rule("get patch", "apps", "deployments/status"),
		rule("get", "", "secrets", "a"),
	}}
	cases := map[string]struct {
		verb, group, resource, namespace, name string
		want                                   bool
	}{
		"what is stated":      {"patch", "apps", "deployments/status", "shop", "web", true},
		"another verb":        {"update", "apps", "deployments/status", "shop", "web", false},
		"the whole object":    {"patch", "apps", "deployments", "shop", "web", false},
		"another group":       {"patch", "", "deployments/status", "shop", "web", false},
		"another namespace":   {"patch", "apps", "deployments/status", "bank", "web", false},
		"everywhere":          {"patch", "apps", "deployments/status", "", "", false},
		"the object named":    {"get", "", "secrets", "shop", "a", true},
		"an object not named": {"get", "", "secrets", "shop", "b", false},
		"all objects":         {"get", "", "secrets", "shop", "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := part.Allows(c.verb, c.group, c.resource, c.namespace, c.name); got != c.want {
				t.Errorf("allowed: %t, want %t", got, c.want)
			}
		})
	}
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
