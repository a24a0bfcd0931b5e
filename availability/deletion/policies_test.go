// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podwright/podwright/availability/deletion"
)

// What the policies refuse is for examples/tests/policies to say; here, that they are in force.
func TestPolicies(t *testing.T) {
	for group, want := range map[string]int{"": 2, "platform-admins": 3, "oidc:Team A@example.com": 3} {
		policies, bindings, err := deletion.Policies(deletion.PolicyOptions{LabelGroup: group})
		if err != nil || len(policies) != want || len(bindings) != want {
			t.Fatalf("%q: %d policies, %d bindings, error %v", group, len(policies), len(bindings), err)
		}
		for i, p := range policies {
			if *p.Spec.FailurePolicy != admissionregistrationv1.Fail || bindings[i].Spec.PolicyName != p.Name ||
				len(bindings[i].Spec.ValidationActions) != 1 || bindings[i].Spec.ValidationActions[0] != admissionregistrationv1.Deny {
				t.Errorf("policy %s is not in force: %+v", p.Name, bindings[i])
			}
		}
		policies[0].Spec.MatchConstraints.ObjectSelector.MatchExpressions[0].Key = "changed"
		if again, _, _ := deletion.Policies(deletion.PolicyOptions{}); again[0].Spec.MatchConstraints.ObjectSelector.MatchExpressions[0].Key == "changed" {
			t.Error("a change of one caller is seen by another")
		}
	}
	for _, group := range []string{"a' || true || '", `a\`, "a\nb"} {
		if _, _, err := deletion.Policies(deletion.PolicyOptions{LabelGroup: group}); err == nil || !strings.Contains(err.Error(), "LabelGroup") {
			t.Errorf("%q: error %v", group, err)
		}
	}
}
