// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The webhook is asked about pods that a SidecarSet may match and no policy has injected into.
// (SPC-10)
func TestMatchExpressionBesidePolicies(t *testing.T) {
	a, b := sidecarSet(t, "a", "{containers: [{name: a}]}"), sidecarSet(t, "b", "{namespace: shop, selector: {matchLabels: {tier: front}}, containers: [{name: b}]}")
	other := sidecarSet(t, "other", "{namespace: elsewhere, containers: [{name: c}]}")
	paused := sidecarSet(t, "paused", "{injectionStrategy: {paused: true}}")
	var many []*v1alpha1.SidecarSet
	for i := range 201 {
		many = append(many, sidecarSet(t, fmt.Sprint("set-", i), "{}"))
	}
	for _, test := range []struct {
		sets     []*v1alpha1.SidecarSet
		metadata string
		want     bool
	}{
		{[]*v1alpha1.SidecarSet{paused}, "{}", false},
		{[]*v1alpha1.SidecarSet{a, b, other, paused}, "{}", true},
		{[]*v1alpha1.SidecarSet{a, b, other}, "{annotations: {kruise.io/sidecarset-injected-list: a}}", false},
		{[]*v1alpha1.SidecarSet{a, b, other}, "{labels: {tier: front}, annotations: {kruise.io/sidecarset-injected-list: a}}", true},
		{[]*v1alpha1.SidecarSet{a, b, other}, `{labels: {tier: front}, annotations: {kruise.io/sidecarset-injected-list: "a,b"}}`, false},
		{[]*v1alpha1.SidecarSet{a, b}, `{annotations: {kruise.io/sidecarset-injected-list: "aa,b"}}`, true},
		{many[:200], `{annotations: {kruise.io/sidecarset-injected-list: "set-0"}}`, true},
		{many, `{annotations: {kruise.io/sidecarset-injected-list: "set-0"}}`, true},
	} {
		expression := policies.MatchExpression(test.sets)
		compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(oldestMutating))
		condition := &matchconditions.MatchCondition{Name: "sidecars", Expression: expression}
		evaluator := compiler.CompileCondition([]cel.ExpressionAccessor{condition}, cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
		for _, err := range evaluator.CompilationErrors() {
			t.Fatal(err)
		}
		request, err := versioned(webPod(t, test.metadata, "{containers: [{name: main, image: m}]}"), shop, false)
		if err != nil {
			t.Fatal(err)
		}
		got := matchconditions.NewMatcher(evaluator, new(admissionregistrationv1.Fail), "webhook", "admit", "sidecars").Match(t.Context(), request, nil, nil)
		if got.Error != nil || got.Matches != test.want {
			t.Errorf("%d SidecarSets, pod %s: error %v, asked %t, want %t\n%s", len(test.sets), test.metadata, got.Error, got.Matches, test.want, expression)
		}
	}
}
