// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Check is what a policy wants of a request. It is a CEL expression that has to be true.
// If it is not, the other part says what is wrong, in words or as an expression that makes
// them.
type Check struct{ Expression, Message, MessageExpression string }

// Policy is a ValidatingAdmissionPolicy that refuses a request, as forbidden, when
// one of the checks fails or cannot be made. The rules say which requests it is
// about, the conditions narrow that, and checks know the variables.
func Policy(name string, rules []admissionregistrationv1.RuleWithOperations, conditions []admissionregistrationv1.MatchCondition,
	variables []admissionregistrationv1.Variable, checks ...Check) admissionregistrationv1.ValidatingAdmissionPolicy {
	policy := admissionregistrationv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{},
			MatchConditions:  conditions,
			Variables:        variables,
		},
	}
	for _, rule := range rules {
		policy.Spec.MatchConstraints.ResourceRules = append(policy.Spec.MatchConstraints.ResourceRules,
			admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: rule})
	}
	for _, check := range checks {
		policy.Spec.Validations = append(policy.Spec.Validations, admissionregistrationv1.Validation{
			Expression: check.Expression, Message: check.Message, MessageExpression: check.MessageExpression, Reason: new(metav1.StatusReasonForbidden),
		})
	}
	return policy
}

// Binding puts a policy into force everywhere, under the name of the policy.
func Binding(policy *admissionregistrationv1.ValidatingAdmissionPolicy) admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
}
