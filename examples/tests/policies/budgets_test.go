// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// In namespaces that have a PodUnavailableBudget, the webhook of budgets is asked about pods that name one and may serve. It is
// also asked about all evictions, which do not say of which pod they are. (PUB-36)
func TestMatchExpressionOfBudgets(t *testing.T) {
	budgets := []*v1alpha1.PodUnavailableBudget{{ObjectMeta: metav1.ObjectMeta{Namespace: "db"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}}
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(oldestMutating))
	condition := &matchconditions.MatchCondition{Name: "budgets", Expression: podunavailablebudget.MatchExpression(budgets)}
	evaluator := compiler.CompileCondition([]cel.ExpressionAccessor{condition}, cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
	for _, err := range evaluator.CompilationErrors() {
		t.Fatal(err)
	}
	linked := webPod(t, "{annotations: {kruise.io/related-pub: web}}", "{containers: [{name: main, image: m}]}")
	linked.Status.Phase = corev1.PodRunning
	failed, goes, stripped := linked.DeepCopy(), linked.DeepCopy(), linked.DeepCopy()
	failed.Status.Phase, goes.DeletionTimestamp, stripped.Annotations = corev1.PodFailed, &metav1.Time{Time: time.Unix(1, 0)}, nil
	other := webPod(t, "{annotations: {a: b}}", "{containers: [{name: main, image: m}]}")
	bare := webPod(t, "{}", "{containers: [{name: main, image: m}]}")
	eviction := &policyv1.Eviction{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"}, ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	for _, pod := range []*corev1.Pod{linked, other, bare, failed, goes, stripped} {
		pod.SetGroupVersionKind(podKind)
	}
	for _, test := range []struct {
		name, in      string
		operation     admission.Operation
		subresource   string
		object, older runtime.Object
		want          bool
	}{
		{"a pod is deleted", "shop", admission.Delete, "", nil, linked, true},
		{"one of no budget is deleted", "shop", admission.Delete, "", nil, other, false},
		{"one without annotations is deleted", "shop", admission.Delete, "", nil, bare, false},
		{"one that has failed is deleted", "shop", admission.Delete, "", nil, failed, false},
		{"one that is being deleted is deleted by its kubelet", "shop", admission.Delete, "", nil, goes, false},
		{"a pod is updated, and loses the name of its budget", "shop", admission.Update, "", stripped, linked, true},
		{"a pod is updated, and gets one", "shop", admission.Update, "", linked, other, false},
		{"a pod is resized", "shop", admission.Update, "resize", linked, linked, true},
		{"one of no budget is updated", "shop", admission.Update, "", bare, bare, false},
		{"a pod is evicted", "shop", admission.Create, "eviction", eviction, nil, true},
		{"a pod is evicted where no budget is", "web", admission.Create, "eviction", eviction, nil, false},
		{"a pod is deleted whose budget is gone", "web", admission.Delete, "", nil, linked, false},
	} {
		kind := podKind
		if test.subresource == "eviction" {
			kind = eviction.GroupVersionKind()
		}
		attributes := admission.NewAttributesRecord(test.object, test.older, kind, test.in, "web", pods, test.subresource, test.operation, &metav1.DeleteOptions{}, false, &user.DefaultInfo{Name: "tenant"})
		request, err := admission.NewVersionedAttributes(attributes, kind, interfaces)
		if err != nil {
			t.Fatal(err)
		}
		got := matchconditions.NewMatcher(evaluator, new(admissionregistrationv1.Fail), "webhook", "validate", "budgets").Match(t.Context(), request, nil, nil)
		if got.Error != nil || got.Matches != test.want {
			t.Errorf("%s: error %v, asked %t, want %t", test.name, got.Error, got.Matches, test.want)
		}
	}
}
