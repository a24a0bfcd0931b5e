// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

func named(name string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) { b.Name = name }
}

func TestFor(t *testing.T) {
	web := workload("apps.kruise.io", "CloneSet", "web", 3, "")
	byLabel := newBudget(named("a"), selecting(map[string]string{"app": "web"}))
	other := newBudget(named("b"), selecting(map[string]string{"app": "db"}))
	byTarget := newBudget(named("c"))
	wrong := newBudget(named("0"), func(b *v1alpha1.PodUnavailableBudget) { b.Spec.TargetReference.APIVersion = "a/b/c" })
	for _, tt := range []struct {
		name     string
		workload *budget.Workload
		budgets  []*v1alpha1.PodUnavailableBudget
		want     string
	}{
		{"PUB-20: by label", web, []*v1alpha1.PodUnavailableBudget{other, byLabel}, "a"},
		{"PUB-20: by workload", web, []*v1alpha1.PodUnavailableBudget{other, byTarget}, "c"},
		{"PUB-20: the first by name", web, []*v1alpha1.PodUnavailableBudget{byTarget, byLabel}, "a"},
		{"PUB-20: none", web, []*v1alpha1.PodUnavailableBudget{other}, ""},
		{"PUB-20: one that cannot be read", web, []*v1alpha1.PodUnavailableBudget{wrong, newBudget(named("1"), selecting(map[string]string{"app": "?"}))}, ""},
		{"PUB-20: of another kind", workload("apps", "CloneSet", "web", 3, ""), []*v1alpha1.PodUnavailableBudget{byTarget}, ""},
		{"PUB-20: of nothing that is known", nil, []*v1alpha1.PodUnavailableBudget{byLabel}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if b := budget.For(newPod("pod"), tt.workload, tt.budgets); b != nil {
				got = b.Name
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestMayMatch: which budgets a pod may be told of, while its workload is not known. (PUB-14.1)
func TestMayMatch(t *testing.T) {
	byTarget, byLabel := newBudget(), newBudget(selecting(map[string]string{"app": "web"}))
	for _, tt := range []struct {
		name   string
		budget *v1alpha1.PodUnavailableBudget
		pod    *corev1.Pod
		want   bool
	}{
		{"its controller has the name", byTarget, newPod("pod", controlledBy("apps.kruise.io/v1alpha1", "CloneSet", "web")), true},
		{"its controller has a longer name", byTarget, newPod("pod", controlledBy("apps/v1", "ReplicaSet", "web-5d8f")), true},
		{"its controller has another name", byTarget, newPod("pod", controlledBy("apps/v1", "ReplicaSet", "we")), false},
		{"without a controller", byTarget, newPod("pod", bare), false},
		{"by label", byLabel, newPod("pod", bare), true},
		{"by another label", byLabel, newPod("pod", label("app", "db")), false},
		{"without the label", byLabel, newPod("pod", func(pod *corev1.Pod) { pod.Labels = nil }), false},
		{"a label and an expression", newBudget(selecting(map[string]string{"app": "web"}), func(b *v1alpha1.PodUnavailableBudget) {
			b.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}
		}), newPod("pod"), true},
	} {
		if got := budget.MayMatch(tt.budget, tt.pod); got != tt.want {
			t.Errorf("PUB-14.1: %s: %t", tt.name, got)
		}
	}
}

func TestConflict(t *testing.T) {
	const in, notIn, exists, absent = metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist
	selects := func(terms ...metav1.LabelSelectorRequirement) *v1alpha1.PodUnavailableBudget {
		return newBudget(selecting(nil), func(b *v1alpha1.PodUnavailableBudget) { b.Spec.Selector.MatchExpressions = terms })
	}
	is := func(operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: "app", Operator: operator, Values: values}
	}
	target := func(apiVersion, kind, name string) *v1alpha1.PodUnavailableBudget {
		return newBudget(func(b *v1alpha1.PodUnavailableBudget) {
			b.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: apiVersion, Kind: kind, Name: name}
		})
	}
	both := newBudget(selecting(map[string]string{"app": "web"}), func(b *v1alpha1.PodUnavailableBudget) {
		b.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{is(in, "db")}
	})
	for _, tt := range []struct {
		name string
		a, b *v1alpha1.PodUnavailableBudget
		want bool
	}{
		{"PUB-21: one workload, two versions", target("apps/v1", "Deployment", "web"), target("apps/v1beta1", "Deployment", "web"), true},
		{"PUB-21: two workloads", target("apps/v1", "Deployment", "web"), target("apps/v1", "Deployment", "db"), false},
		{"PUB-21: two kinds", target("apps/v1", "Deployment", "web"), target("apps/v1", "StatefulSet", "web"), false},
		{"PUB-21: two groups", target("apps/v1", "StatefulSet", "web"), target("apps.kruise.io/v1beta1", "StatefulSet", "web"), false},
		{"PUB-21: neither can be read", target("a/b/c", "X", "web"), target("a/b/c", "X", "web"), false},
		{"PUB-21: a workload and a selector", newBudget(), selects(is(in, "web")), false},
		{"PUB-21: other keys", selects(is(in, "web")), newBudget(selecting(map[string]string{"tier": "web"})), false},
		{"PUB-21: a key more", selects(is(in, "web")), newBudget(selecting(map[string]string{"app": "web", "tier": "a"})), false},
		{"PUB-21: a label wins", both, selects(is(in, "db")), false},
		{"PUB-21: In, In", selects(is(in, "a", "b")), selects(is(in, "b", "c")), true},
		{"PUB-21: In, In without a common value", selects(is(in, "a")), selects(is(in, "b")), false},
		{"PUB-21: In, NotIn", selects(is(in, "a", "b")), selects(is(notIn, "b", "c")), true},
		{"PUB-21: In, all of it NotIn", selects(is(in, "a", "b")), selects(is(notIn, "a", "b")), false},
		{"PUB-21: In, Exists", selects(is(in, "a")), selects(is(exists)), true},
		{"PUB-21: In, DoesNotExist", selects(is(in, "a")), selects(is(absent)), false},
		{"PUB-21: Exists, Exists", selects(is(exists)), selects(is(exists)), true},
		{"PUB-21: Exists, NotIn", selects(is(exists)), selects(is(notIn, "a")), true},
		{"PUB-21: Exists, DoesNotExist", selects(is(exists)), selects(is(absent)), false},
		{"PUB-21: NotIn, NotIn", selects(is(notIn, "a")), selects(is(notIn, "a")), true},
		{"PUB-21: NotIn, DoesNotExist", selects(is(notIn, "a")), selects(is(absent)), true},
		{"PUB-21: DoesNotExist, DoesNotExist", selects(is(absent)), selects(is(absent)), true},
		{"PUB-21: what nobody knows", selects(is("Near")), selects(is("Near")), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, other := budget.Conflict(tt.a, tt.b), budget.Conflict(tt.b, tt.a); got != tt.want || other != tt.want {
				t.Errorf("got %t, and %t the other way round, want %t", got, other, tt.want)
			}
		})
	}
}
