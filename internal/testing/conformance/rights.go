// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// rights compares what a controller asks for, in all scenarios, with the RBAC rules that it states. A right is "verb group/resource/subresource",
// one in a namespace alone ends in " in NAMESPACE".
type rights struct {
	lock          sync.Mutex
	stated, asked map[string]bool
	where         map[string]string // a namespace in which a right was asked for
	missed        int               // scenarios that were not played
}

func newRights() *rights {
	return &rights{stated: map[string]bool{}, asked: map[string]bool{}, where: map[string]string{}}
}

// state takes note of what a controller states that it needs.
func (r *rights) state(rules []rbacv1.PolicyRule, in map[string][]rbacv1.PolicyRule) {
	r.lock.Lock()
	defer r.lock.Unlock()
	add := func(rules []rbacv1.PolicyRule, suffix string) {
		for _, rule := range rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						r.stated[verb+" "+group+"/"+resource+suffix] = true
					}
				}
			}
		}
	}
	add(rules, "")
	for namespace, rules := range in {
		add(rules, " in "+namespace)
	}
}

// ask takes note of a request.
func (r *rights) ask(request *fakecluster.Request) {
	r.lock.Lock()
	defer r.lock.Unlock()
	right := request.Verb + " " + request.Group + "/" + request.Resource
	if request.Subresource != "" {
		right += "/" + request.Subresource
	}
	if in := right + " in " + request.Namespace; r.stated[in] && !r.stated[right] {
		right = in
	}
	r.asked[right], r.where[right] = true, request.Namespace
}

// In is what NamespaceRules of a kind returns, for Controller.
func In(namespace string, rules []rbacv1.PolicyRule) map[string][]rbacv1.PolicyRule {
	return map[string][]rbacv1.PolicyRule{namespace: rules}
}

// uses tells whether a right is used, or is one that no scenario can use. Events go to a recorder that sends nothing. The API server itself
// asks for the right to change finalizers, if owner references are enforced. An informer lists only if the API server streams nothing.
func (r *rights) uses(right string) bool {
	verb, resource, _ := strings.Cut(right, " ")
	return r.asked[right] || resource == "/events" || verb == "update" && strings.HasSuffix(resource, "/finalizers") || verb == "list" && r.asked["watch "+resource]
}

// check: a controller asks for nothing that its rules do not allow, and its rules allow nothing that it never asks for. Excepted are
// the rights in unasked, which has a reason for each. See Subject.Unasked.
func (r *rights) check(t *testing.T, unasked map[string]string) {
	t.Helper()
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(r.stated) == 0 {
		t.Fatal("the kind states no rules: Controller.rules and Agent.Rules are those of its options")
	}
	for _, right := range slices.Sorted(maps.Keys(r.asked)) {
		if !r.stated[right] {
			t.Errorf("it asks for %q in namespace %q, and its rules do not allow that", right, r.where[right])
		}
	}
	if r.missed > 0 {
		return // what is not asked for by some of the scenarios says nothing
	}
	for _, right := range slices.Sorted(maps.Keys(r.stated)) {
		if !r.uses(right) && unasked[right] == "" && unasked["*"] == "" {
			t.Errorf("its rules allow %q, and no scenario asks for that: Unasked says why it is needed", right)
		}
	}
	for right := range unasked {
		if right != "*" && (r.uses(right) || !r.stated[right]) {
			t.Errorf("Unasked has %q: it is made use of: %t, its rules allow it: %t", right, r.uses(right), r.stated[right])
		}
	}
}
