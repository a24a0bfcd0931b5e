// SPDX-License-Identifier: Apache-2.0

// Package permissions says what the parts of a program ask of the API server, and writes it down as RBAC objects. A
// program states the rules next to what needs them, so that a part that is switched off takes its rules along.
package permissions

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/manager"
)

// Part is that of package manager.
type Part = manager.Part

// Rule allows verbs, separated by spaces, on a resource. If names are given it is about these objects alone. The
// authorizer does not know the name of an object that is created with a POST. So the verb create takes a rule of its
// own.
func Rule(verbs, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: strings.Fields(verbs), APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

// Manifest returns a ServiceAccount in the namespace of a program and what gives it the rules of the parts, as YAML; see manager.RBAC.
func Manifest(program, namespace string, parts []Part) ([]byte, error) {
	return manager.YAML(manager.RBAC(program, namespace, parts)...)
}
