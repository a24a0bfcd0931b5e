// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"context"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/object"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"pgregory.net/rapid"
)

// oldest is the version of Kubernetes whose functions the policies have to do with: the
// first one that has policies unless told otherwise.
var oldest = version.MajorMinor(1, 30)

// judge judges requests as the API server does with some policies.
type judge struct {
	policies   []admissionregistrationv1.ValidatingAdmissionPolicy
	validators []validating.Validator
}

// newJudge fails the test if an expression does not compile.
func newJudge(t *testing.T, policies []admissionregistrationv1.ValidatingAdmissionPolicy) *judge {
	t.Helper()
	j := &judge{policies: policies}
	for i := range policies {
		j.validators = append(j.validators, compile(t, &policies[i]))
	}
	return j
}

func compile(t *testing.T, policy *admissionregistrationv1.ValidatingAdmissionPolicy) validating.Validator {
	t.Helper()
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(oldest))
	if err != nil {
		t.Fatal(err)
	}
	declared := cel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range policy.Spec.Variables {
		result := compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, declared, environment.NewExpressions)
		if result.Error != nil {
			t.Fatalf("%s: variable %s: %v", policy.Name, v.Name, result.Error)
		}
	}
	compiled := func(expressions ...cel.ExpressionAccessor) cel.ConditionEvaluator {
		t.Helper()
		evaluator := compiler.CompileCondition(expressions, declared, environment.NewExpressions)
		for _, err := range evaluator.CompilationErrors() {
			t.Fatalf("%s: %v", policy.Name, err)
		}
		return evaluator
	}
	var conditions, checks, messages []cel.ExpressionAccessor
	for i := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	for _, v := range policy.Spec.Validations {
		checks = append(checks, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		if v.MessageExpression == "" {
			messages = append(messages, nil)
		} else {
			messages = append(messages, &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression})
		}
	}
	failure := policy.Spec.FailurePolicy
	var matcher matchconditions.Matcher
	if len(conditions) > 0 {
		matcher = matchconditions.NewMatcher(compiled(conditions...), failure, "policy", "validate", policy.Name)
	}
	return validating.NewValidator(compiled(checks...), matcher, compiled(), compiled(messages...), failure, nil)
}

// request is what a policy is asked about: without old a creation, without object a deletion.
type request struct {
	resource, subresource string
	kind                  schema.GroupVersionKind
	name                  string
	object, old           runtime.Object
	user                  user.Info
}

// refusals returns what each policy says first against a request, in the order of the policies.
func (j *judge) refusals(t rapid.TB, r request) (said []string) {
	t.Helper()
	operation, resource := admission.Update, r.kind.GroupVersion().WithResource(r.resource)
	switch {
	case r.old == nil:
		operation = admission.Create
	case r.object == nil:
		operation = admission.Delete
	}
	for i := range j.policies {
		attributes := admission.NewAttributesRecord(r.object, r.old, r.kind, "shop", r.name, resource, r.subresource, operation, nil, false, r.user)
		if !concerns(&j.policies[i], resource, r.subresource, operation) || !selects(t, &j.policies[i], attributes) {
			continue
		}
		versioned, err := admission.NewVersionedAttributes(attributes, r.kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		var answers [2]string
		for way, typed := range []bool{false, true} { // the API server is about to change from one to the other
			//lint:ignore SA1019 until it has
			versioned.VersionedObject.UseSchemalessTypeRef, versioned.VersionedOldObject.UseSchemalessTypeRef = typed, typed
			if r.object != nil {
				versioned.VersionedObject.Set(r.object)
			}
			if r.old != nil {
				versioned.VersionedOldObject.Set(r.old)
			}
			for _, decision := range j.validators[i].Validate(context.Background(), resource, versioned, nil, nil, celconfig.RuntimeCELCostBudget, nil).Decisions {
				if decision.Action == validating.ActionDeny && answers[way] == "" {
					answers[way] = string(decision.Reason) + ": " + decision.Message
				}
			}
		}
		if answers[0] != answers[1] {
			t.Errorf("of an object read in two ways: %q and %q", answers[0], answers[1])
		}
		if answers[0] != "" {
			said = append(said, answers[0])
		}
	}
	return said
}

// selects tells whether a policy is about objects with such labels.
func selects(t rapid.TB, policy *admissionregistrationv1.ValidatingAdmissionPolicy, attributes admission.Attributes) bool {
	t.Helper()
	var matcher object.Matcher
	matches, err := matcher.MatchObjectSelector(selector{policy.Spec.MatchConstraints.ObjectSelector}, attributes)
	if err != nil {
		t.Fatal(err)
	}
	return matches
}

// selector is one of labels; nil selects all objects, as the API server defaults it.
type selector struct{ *metav1.LabelSelector }

func (s selector) GetParsedObjectSelector() (labels.Selector, error) {
	if s.LabelSelector == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(s.LabelSelector)
}

// concerns tells whether a policy is about a kind of request.
func concerns(policy *admissionregistrationv1.ValidatingAdmissionPolicy, resource schema.GroupVersionResource, subresource string, operation admission.Operation) bool {
	path := resource.Resource
	if subresource != "" {
		path += "/" + subresource
	}
	return slices.ContainsFunc(policy.Spec.MatchConstraints.ResourceRules, func(rule admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, resource.Group) && slices.Contains(rule.APIVersions, resource.Version) &&
			slices.Contains(rule.Resources, path) && slices.Contains(rule.Operations, admissionregistrationv1.OperationType(operation))
	})
}
