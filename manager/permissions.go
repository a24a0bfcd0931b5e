// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright"
)

// Part is a part of a program, and what it asks of the API server in one place.
type Part struct {
	// Name is that of the controller; empty: the program as a whole.
	Name string
	// Namespace is the one in which the rules are needed. Empty: everywhere, which resources without a namespace need.
	Namespace string
	// Rules are what it asks: verbs on resources, as RBAC has them.
	Rules []rbacv1.PolicyRule
}

// Allows tells whether the part may do something in a namespace. The name is that of the object, empty if the
// request is about no object or about many.
func (p Part) Allows(verb, group, resource, namespace, name string) bool {
	return (p.Namespace == "" || p.Namespace == namespace) && slices.ContainsFunc(p.Rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.Verbs, verb) && slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) &&
			(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, name))
	})
}

// Permissions returns what the program asks of the API server, by its parts: what webhooks and their registration ask, and what each
// controller does. Reading informers that several share stands with each of them.
func (s *Set) Permissions() (parts []Part) {
	if s.options.Target != nil {
		parts = append(parts, Part{Rules: RegistrationRules()})
	}
	for _, k := range s.kinds {
		if k.Admission != nil {
			parts = appendParts(parts, "", k.Admission.Permissions)
		}
	}
	for _, k := range s.kinds {
		parts = appendParts(parts, k.Name, k.Permissions)
	}
	return parts
}

func appendParts(parts []Part, name string, permissions []podwright.Permission) []Part {
	for _, p := range permissions {
		parts = append(parts, Part{name, p.Namespace, p.Rules})
	}
	return parts
}

// RBAC returns a ServiceAccount in the namespace of a program and what gives it the rules of the parts. That is a ClusterRole for what is
// needed everywhere, a Role for each namespace in which more is needed, and their bindings. All have the name of the program. A
// role has one rule for each resource and set of names.
func RBAC(program, namespace string, parts []Part) (objects []runtime.Object) {
	rules := map[string][]rbacv1.PolicyRule{} // by namespace
	for _, part := range parts {
		rules[part.Namespace] = append(rules[part.Namespace], part.Rules...)
	}
	typed := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
	}
	role := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: program}
	}
	account := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: program, Namespace: namespace}}
	objects = append(objects, &corev1.ServiceAccount{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: metav1.ObjectMeta{Name: program, Namespace: namespace}})
	for _, where := range slices.Sorted(maps.Keys(rules)) {
		meta := metav1.ObjectMeta{Name: program, Namespace: where}
		switch compact := compact(rules[where]); {
		case len(compact) == 0:
		case where == "":
			objects = append(objects, &rbacv1.ClusterRole{TypeMeta: typed("ClusterRole"), ObjectMeta: meta, Rules: compact},
				&rbacv1.ClusterRoleBinding{TypeMeta: typed("ClusterRoleBinding"), ObjectMeta: meta, RoleRef: role("ClusterRole"), Subjects: account})
		default:
			objects = append(objects, &rbacv1.Role{TypeMeta: typed("Role"), ObjectMeta: meta, Rules: compact},
				&rbacv1.RoleBinding{TypeMeta: typed("RoleBinding"), ObjectMeta: meta, RoleRef: role("Role"), Subjects: account})
		}
	}
	return objects
}

// order is that of the verbs in a rule.
var order = strings.Fields("get list watch create update patch delete")

// compact returns one rule for each resource and set of names, in an order that says nothing of the parts.
func compact(rules []rbacv1.PolicyRule) (compacted []rbacv1.PolicyRule) {
	merged := map[string]*rbacv1.PolicyRule{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				key := strings.Join(append([]string{group, resource}, rule.ResourceNames...), " ")
				if merged[key] == nil {
					merged[key] = &rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: rule.ResourceNames}
				}
				merged[key].Verbs = append(merged[key].Verbs, rule.Verbs...)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		rule := merged[key]
		slices.SortFunc(rule.Verbs, func(a, b string) int {
			return cmp.Or(cmp.Compare(slices.Index(order, a), slices.Index(order, b)), cmp.Compare(a, b))
		})
		rule.Verbs = slices.Compact(rule.Verbs)
		compacted = append(compacted, *rule)
	}
	return compacted
}
