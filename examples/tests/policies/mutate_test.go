// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"context"
	"fmt"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // the defaults of pods
)

// oldestMutating is the first version of Kubernetes that serves MutatingAdmissionPolicies
// unless told otherwise.
var oldestMutating = version.MajorMinor(1, 36)

// mutator changes pods as the API server does with one policy.
type mutator struct {
	policy   *admissionregistrationv1.MutatingAdmissionPolicy
	compiler *cel.CompositedCompiler
	matcher  matchconditions.Matcher
	patchers []patch.Patcher
	mutation cel.MutatingEvaluator
}

// newMutator gives an error if an expression does not compile.
func newMutator(policy *admissionregistrationv1.MutatingAdmissionPolicy) (*mutator, error) {
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(oldestMutating))
	if err != nil {
		return nil, err
	}
	m := &mutator{policy: policy, compiler: compiler}
	declared := cel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range policy.Spec.Variables {
		if r := compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, declared, environment.NewExpressions); r.Error != nil {
			return nil, fmt.Errorf("%s: variable %s: %w", policy.Name, v.Name, r.Error)
		}
	}
	var conditions []cel.ExpressionAccessor
	for i := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	evaluator := compiler.CompileCondition(conditions, declared, environment.NewExpressions)
	for _, err := range evaluator.CompilationErrors() {
		return nil, fmt.Errorf("%s: %w", policy.Name, err)
	}
	m.matcher = matchconditions.NewMatcher(evaluator, policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
	declared.HasPatchTypes = true
	for _, mutation := range policy.Spec.Mutations {
		m.mutation = compiler.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: mutation.JSONPatch.Expression}, declared, environment.NewExpressions)
		for _, err := range m.mutation.CompilationErrors() {
			return nil, fmt.Errorf("%s: %w", policy.Name, err)
		}
		m.patchers = append(m.patchers, patch.NewJSONPatcher(m.mutation))
	}
	return m, nil
}

var (
	pods       = corev1.SchemeGroupVersion.WithResource("pods")
	podKind    = corev1.SchemeGroupVersion.WithKind("Pod")
	interfaces = admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme)
)

// selects tells whether the selectors of a policy match a pod.
func (m *mutator) selects(pod *corev1.Pod, namespace *corev1.Namespace) (bool, error) {
	match := m.policy.Spec.MatchConstraints
	for _, of := range []struct {
		selector *metav1.LabelSelector
		labels   labels.Set
	}{{match.ObjectSelector, pod.Labels}, {match.NamespaceSelector, namespace.Labels}} {
		selector, err := metav1.LabelSelectorAsSelector(of.selector)
		if err != nil || !selector.Matches(of.labels) {
			return false, err
		}
	}
	return slices.ContainsFunc(match.ResourceRules, func(rule admissionregistrationv1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.Operations, admissionregistrationv1.Create) && slices.Contains(rule.Resources, "pods")
	}), nil
}

// versioned is a request to create a pod. The API server is about to change how
// expressions read objects: schemaless is the new way.
func versioned(pod *corev1.Pod, namespace *corev1.Namespace, schemaless bool) (*admission.VersionedAttributes, error) {
	pod = pod.DeepCopy()
	pod.SetGroupVersionKind(podKind)
	attributes := admission.NewAttributesRecord(pod, nil, podKind, namespace.Name, pod.Name, pods, "", admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "tenant"})
	v, err := admission.NewVersionedAttributes(attributes, podKind, interfaces)
	if err == nil {
		//lint:ignore SA1019 until it has
		v.VersionedObject.UseSchemalessTypeRef = schemaless
	}
	return v, err
}

// mutate changes a pod that is created, as the API server's dispatcher does.
func (m *mutator) mutate(pod *corev1.Pod, namespace *corev1.Namespace, schemaless bool) (*corev1.Pod, error) {
	if selected, err := m.selects(pod, namespace); err != nil || !selected {
		return pod, err
	}
	v, err := versioned(pod, namespace, schemaless)
	if err != nil {
		return nil, err
	}
	ctx := m.compiler.CreateContext(context.Background())
	if matched := m.matcher.Match(ctx, v, nil, nil); matched.Error != nil || !matched.Matches {
		return pod, matched.Error
	}
	//lint:ignore SA1019 until it has
	v.VersionedObject.UseSchemalessTypeRef = schemaless
	for _, patcher := range m.patchers {
		changed, err := patcher.Patch(ctx, patch.Request{MatchedResource: pods, VersionedAttributes: v, ObjectInterfaces: interfaces, Namespace: namespace}, celconfig.RuntimeCELCostBudget)
		if err != nil {
			return nil, err
		}
		interfaces.GetObjectDefaulter().Default(changed)
		v.UpdateObject(changed)
	}
	return v.VersionedObject.Object().(*corev1.Pod), nil
}

// cost is what the patch of a pod costs in all.
func (m *mutator) cost(t testing.TB, pod *corev1.Pod, namespace *corev1.Namespace) int64 {
	t.Helper()
	v, err := versioned(pod, namespace, false)
	if err != nil {
		t.Fatal(err)
	}
	request := cel.CreateAdmissionRequest(v.Attributes, metav1.GroupVersionResource(pods), metav1.GroupVersionKind(podKind))
	result, left, err := m.mutation.ForInput(m.compiler.CreateContext(t.Context()), v, request, cel.OptionalVariableBindings{}, namespace, celconfig.RuntimeCELCostBudget)
	if err != nil || result.Error != nil {
		t.Fatalf("%v, %v", err, result.Error)
	}
	return celconfig.RuntimeCELCostBudget - left
}
