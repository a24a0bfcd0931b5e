// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/nodeagent/containermeta"
	"github.com/podwright/podwright/nodeagent/image"
	"github.com/podwright/podwright/nodeagent/probe"
	"github.com/podwright/podwright/nodeagent/recreate"
)

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{Namespace: "kruise-system", Name: "podwright-nodeagent"}, ""},
		{Options{Namespace: "kruise-system"}, `Name ""`},
		{Options{Name: "podwright-nodeagent"}, `Namespace ""`},
		{Options{Namespace: "kruise-system", Name: "a' || true || '"}, `Name "a' || true || '"`},
		{Options{Namespace: "a:b", Name: "podwright-nodeagent"}, `Namespace "a:b"`},
	} {
		_, _, err := New(test.options)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %q", test.options, err, test.want)
		}
	}
}

// Everything that a feature may change a policy is about, for that kind of change.
func TestEveryWriteIsHeld(t *testing.T) {
	all, bindings, err := New(Options{Namespace: "kruise-system", Name: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	held := map[string][]admissionregistrationv1.OperationType{}
	for i, policy := range all {
		if *policy.Spec.FailurePolicy != admissionregistrationv1.Fail || bindings[i].Spec.PolicyName != policy.Name ||
			!slices.Equal(bindings[i].Spec.ValidationActions, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}) {
			t.Errorf("policy %s is not in force: %+v", policy.Name, bindings[i])
		}
		for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
			for _, resource := range rule.Resources {
				held[rule.APIGroups[0]+"/"+resource] = rule.Operations
			}
		}
	}
	operations := map[string]admissionregistrationv1.OperationType{"create": "CREATE", "patch": "UPDATE", "update": "UPDATE", "delete": "DELETE", "deletecollection": "DELETE"}
	recorder := func(string) record.EventRecorder { return &record.FakeRecorder{} }
	for _, rule := range slices.Concat[[]rbacv1.PolicyRule](
		containermeta.Rules(containermeta.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), recreate.Rules(recreate.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), image.Rules(image.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), probe.Rules(probe.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}),
	) {
		for _, verb := range rule.Verbs {
			operation, write := operations[verb]
			if resource := rule.APIGroups[0] + "/" + rule.Resources[0]; write && !slices.Contains(held[resource], operation) {
				t.Errorf("no policy is about %s of %s", verb, resource)
			}
		}
	}
}
