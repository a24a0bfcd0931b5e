// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var tested = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: acts, ClusterScoped: true}

// acts tells whether a plan writes anything.
func acts(p *Plan) bool {
	return p.CreatePolicy != nil || p.UpdatePolicy != nil || p.DeletePolicy != nil ||
		p.CreateBinding != nil || p.UpdateBinding != nil || p.DeleteBinding != nil
}

// TestConformance has the policy of a SidecarSet follow another revision, and both go while injection is paused. (SPC-1, SPC-3, SPC-5, SPC-7, SPC-11)
func TestConformance(t *testing.T) {
	sets, policies, bindings := resources()
	conformance.Test(t, conformance.Subject{
		Resource: sets, More: []fakecluster.Resource{policies, bindings},
		Watches: []string{"sidecarsets", "controllerrevisions", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"},
		Writes: []string{"create mutatingadmissionpolicies", "create mutatingadmissionpolicybindings", "update mutatingadmissionpolicies",
			"delete mutatingadmissionpolicies", "delete mutatingadmissionpolicybindings"},
		Repeats: []string{"delete mutatingadmissionpolicies", "delete mutatingadmissionpolicybindings"}, // of that UID
		Unasked: map[string]string{"update admissionregistration.k8s.io/mutatingadmissionpolicybindings": "a binding is the same for every revision: one that differs is another client's"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			o := optionsIn(c.Cluster)
			o.Metrics = c.Reconciles
			for _, read := range o.reads() {
				*read.Informer = c.Share(read.MakeInformer())
			}
			return conformance.Made(tested, o, rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			set := setOf(c.T, one)
			set.Name = name
			c.Create(set, "")
			observe(c.Cluster, name, 1)
		},
		Change: func(c *conformance.Cluster, name string) {
			c.EditNamed(name, `{"spec":{"containers":[{"name":"log","image":"log:2"}]}}`)
			observe(c.Cluster, name, 2)
			c.EditNamed(name, `{"spec":{"injectionStrategy":{"paused":true}}}`)
			c.Sleep("1s")
			c.EditNamed(name, `{"spec":{"injectionStrategy":{"paused":false}}}`)
			observe(c.Cluster, name, 2)
		},
		About: func(*conformance.Cluster, string) string { return "" }, // events alone
		Outcome: func(c *conformance.Cluster, name string) string {
			revision, _, _ := strings.Cut(stands(c.Cluster, name), ", ") // when it was made does not matter
			return revision
		},
	})
}

// rules are all that the kind states, wherever: filled anew, the cache of revisions is watched in all namespaces.
func rules(o Options) []rbacv1.PolicyRule {
	_, in := NamespaceRules(o)
	return append(Rules(o), in...)
}
