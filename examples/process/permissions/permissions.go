// SPDX-License-Identifier: Apache-2.0

// Package permissions says what the parts of a program ask of the API server, and writes it down as RBAC objects. A
// program states the rules next to what needs them, so that a part that is switched off takes its rules along.
package permissions

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"sigs.k8s.io/yaml"
)

// Part is a part of a program, and what it needs in one place.
type Part struct {
	// Name ends the user agent of its requests, as "cloneset-controller" does in
	// "podwright-manager/cloneset-controller". Empty: the program as a whole.
	Name string
	// Namespace is the one in which the rules are needed. Empty: everywhere, which resources without a namespace need.
	Namespace string
	Rules     []rbacv1.PolicyRule
}

// Rule allows verbs, separated by spaces, on a resource. If names are given it is about these objects alone. The
// authorizer does not know the name of an object that is created with a POST. So the verb create takes a rule of its
// own.
func Rule(verbs, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: strings.Fields(verbs), APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

// Allows tells whether the part may do something in a namespace. The name is that of the object, empty if the
// request is about no object or about many.
func (p Part) Allows(verb, group, resource, namespace, name string) bool {
	return (p.Namespace == "" || p.Namespace == namespace) && slices.ContainsFunc(p.Rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.Verbs, verb) && slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) &&
			(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, name))
	})
}

// Manifest returns a ServiceAccount in the namespace of a program and what gives it the rules of the parts, as YAML.
// That is a ClusterRole for what is needed everywhere, a Role for each namespace in which more is needed, and their
// bindings. All have the name of the program.
func Manifest(program, namespace string, parts []Part) ([]byte, error) {
	rules := map[string][]rbacv1.PolicyRule{} // by namespace
	for _, part := range parts {
		rules[part.Namespace] = append(rules[part.Namespace], part.Rules...)
	}
	account := rbacv1ac.Subject().WithKind(rbacv1.ServiceAccountKind).WithName(program).WithNamespace(namespace)
	role := func(kind string) *rbacv1ac.RoleRefApplyConfiguration {
		return rbacv1ac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind(kind).WithName(program)
	}
	objects := []any{corev1ac.ServiceAccount(program, namespace)}
	for _, where := range slices.Sorted(maps.Keys(rules)) {
		switch compact := compact(rules[where]); {
		case len(compact) == 0:
		case where == "":
			objects = append(objects, rbacv1ac.ClusterRole(program).WithRules(compact...),
				rbacv1ac.ClusterRoleBinding(program).WithRoleRef(role("ClusterRole")).WithSubjects(account))
		default:
			objects = append(objects, rbacv1ac.Role(program, where).WithRules(compact...),
				rbacv1ac.RoleBinding(program, where).WithRoleRef(role("Role")).WithSubjects(account))
		}
	}
	var manifest bytes.Buffer
	for _, object := range objects {
		document, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&manifest, "---\n%s", document)
	}
	return manifest.Bytes(), nil
}

// order is that of the verbs in a rule.
var order = strings.Fields("get list watch create update patch delete")

// compact returns one rule for each resource and set of names, in an order that says nothing of the parts.
func compact(rules []rbacv1.PolicyRule) (compacted []*rbacv1ac.PolicyRuleApplyConfiguration) {
	verbs, merged := map[string][]string{}, map[string]rbacv1.PolicyRule{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				key := strings.Join(append([]string{group, resource}, rule.ResourceNames...), " ")
				merged[key], verbs[key] = Rule("", group, resource, rule.ResourceNames...), append(verbs[key], rule.Verbs...)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		slices.SortFunc(verbs[key], func(a, b string) int {
			return cmp.Or(cmp.Compare(slices.Index(order, a), slices.Index(order, b)), cmp.Compare(a, b))
		})
		rule := merged[key]
		compacted = append(compacted, rbacv1ac.PolicyRule().WithAPIGroups(rule.APIGroups...).WithResources(rule.Resources...).
			WithResourceNames(rule.ResourceNames...).WithVerbs(slices.Compact(verbs[key])...))
	}
	return compacted
}
