// Package permissions says what the parts of a program ask of the API server, as
// data, and writes it down as RBAC objects. A program states its rights next to
// what needs them, so that a part that is switched off takes its rights along.
package permissions

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Right is what may be done with one resource.
type Right struct {
	// Group of the resource; empty for the core group.
	Group string
	// Resource is its plural name, with the subresource if it is about one:
	// "pods", "pods/status".
	Resource string
	// Verbs are separated by spaces: "list watch".
	Verbs string
	// Names are the objects that it is about. Default none: all. The name of an
	// object that is created with a POST is not known to who decides, so the verb
	// create stands in a right of its own, without names.
	Names []string
}

// Part is a part of a program, and what it needs in one place.
type Part struct {
	// Name ends the user agent of its requests, as "cloneset-controller" does in
	// "podwright-manager/cloneset-controller". Empty: the program as a whole.
	Name string
	// Namespace is where the rights are needed. Empty: everywhere, which resources
	// without a namespace need.
	Namespace string
	Rights    []Right
}

// Allows tells whether the right covers a verb on a resource. The name is that of
// the object, empty where the request is about no object or about many.
func (r Right) Allows(verb, group, resource, name string) bool {
	return r.Group == group && r.Resource == resource && slices.Contains(strings.Fields(r.Verbs), verb) &&
		(len(r.Names) == 0 || slices.Contains(r.Names, name))
}

// Allows tells whether the part may do something in a namespace.
func (p Part) Allows(verb, group, resource, namespace, name string) bool {
	return (p.Namespace == "" || p.Namespace == namespace) &&
		slices.ContainsFunc(p.Rights, func(r Right) bool { return r.Allows(verb, group, resource, name) })
}

// order is that of the verbs in a rule.
var order = strings.Fields("get list watch create update patch delete")

// rules returns the rights as rules, one for each resource and set of names.
// The order says nothing of the parts.
func rules(rights []Right) []rbacv1.PolicyRule {
	merged := map[string]*rbacv1.PolicyRule{}
	for _, r := range rights {
		key := strings.Join(append([]string{r.Group, r.Resource}, r.Names...), " ")
		if merged[key] == nil {
			merged[key] = &rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{r.Resource}, ResourceNames: r.Names}
		}
		merged[key].Verbs = append(merged[key].Verbs, strings.Fields(r.Verbs)...)
	}
	var sorted []rbacv1.PolicyRule
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		rule := merged[key]
		slices.SortFunc(rule.Verbs, func(a, b string) int {
			return cmp.Or(cmp.Compare(slices.Index(order, a), slices.Index(order, b)), cmp.Compare(a, b))
		})
		rule.Verbs = slices.Compact(rule.Verbs)
		sorted = append(sorted, *rule)
	}
	return sorted
}
