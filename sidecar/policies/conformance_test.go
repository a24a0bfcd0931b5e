// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection/policy"
)

// TestConformance has the policy of a SidecarSet follow another revision, and both go while injection is paused. (SPC-1, SPC-3, SPC-5, SPC-7, SPC-11)
func TestConformance(t *testing.T) {
	sets, policies, bindings := resources()
	of := func(c *conformance.Cluster) *cluster {
		return &cluster{c.Cluster, fixture.Connect(c.T, c.Server, fixture.TestUser, client.NewForConfig).SidecarSets()}
	}
	conformance.Test(t, conformance.Subject{
		Resource: sets, More: []fakecluster.Resource{policies, bindings},
		Watches: []string{"sidecarsets", "controllerrevisions", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"},
		Writes: []string{"create mutatingadmissionpolicies", "create mutatingadmissionpolicybindings", "update mutatingadmissionpolicies",
			"delete mutatingadmissionpolicies", "delete mutatingadmissionpolicybindings"},
		Repeats: []string{"delete mutatingadmissionpolicies", "delete mutatingadmissionpolicybindings"}, // of that UID
		Unasked: map[string]string{"update admissionregistration.k8s.io/mutatingadmissionpolicybindings": "a binding is the same for every revision: one that differs is another client's"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			kube := c.Client(fixture.ControllerUser)
			o := Options{Kubernetes: kube, Sidecar: fixture.Connect(c.T, c.Server, fixture.ControllerUser, client.NewForConfig),
				ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of, Metrics: c.Reconciles}, Discovery: withPolicies}
			for _, read := range o.reads() {
				*read.Informer = c.Share(read.MakeInformer())
			}
			controller, err := New(o)
			c.Must(err)
			return conformance.Controller{Memory: controller, Rules: rules(o), Run: controller.Run, Next: func(key types.NamespacedName) (string, error) {
				plan, err := controller.Plan(c.T.Context(), key)
				if err != nil || plan == nil || plan.CreatePolicy == nil && plan.UpdatePolicy == nil && plan.CreateBinding == nil && plan.UpdateBinding == nil &&
					plan.DeletePolicy == nil && plan.DeleteBinding == nil {
					return "", err
				}
				return plan.String(), nil
			}}, nil
		},
		Create: func(c *conformance.Cluster, name string) {
			set := setOf(c.T, one)
			set.Name = name
			of(c).create(set)
		},
		Change: func(c *conformance.Cluster, name string) {
			set := of(c).get(name)
			set.Spec.Containers[0].Image = "log:2"
			set = of(c).observed(of(c).update(set), 2)
			set.Spec.InjectionStrategy.Paused = true
			set = of(c).update(set)
			set.Spec.InjectionStrategy.Paused = false
			of(c).observed(of(c).update(set), 2)
		},
		About: func(*conformance.Cluster, string) string { return "" }, // events alone
		Outcome: func(c *conformance.Cluster, name string) string {
			admission := c.Kube.AdmissionregistrationV1()
			p, err := admission.MutatingAdmissionPolicies().Get(c.T.Context(), policy.Name(name), metav1.GetOptions{})
			_, unbound := admission.MutatingAdmissionPolicyBindings().Get(c.T.Context(), policy.Name(name), metav1.GetOptions{})
			return fmt.Sprint(p.Annotations[policy.RevisionAnnotation], err, unbound)
		},
	})
}

// rules are all that the kind states, wherever: filled anew, the cache of revisions is watched in all namespaces.
func rules(o Options) []rbacv1.PolicyRule {
	_, in := NamespaceRules(o)
	return append(Rules(o), in...)
}
