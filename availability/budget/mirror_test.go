// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// PUB-30: what a PodDisruptionBudget shows of a budget, and when there is none.
func TestMirror(t *testing.T) {
	app := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	mirrored := func(n int32) *policyv1.PodDisruptionBudgetSpec {
		return &policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(n)), Selector: app, UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow)}
	}
	for _, test := range []struct {
		name     string
		change   func(*v1alpha1.PodUnavailableBudget)
		desired  int32
		selector *metav1.LabelSelector
		want     *policyv1.PodDisruptionBudgetSpec
	}{
		{"with a selector", func(*v1alpha1.PodUnavailableBudget) {}, 3, app, mirrored(3)},
		{"with a target", func(b *v1alpha1.PodUnavailableBudget) {
			b.Spec.Selector, b.Spec.TargetReference = nil, &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
		}, 2, app, mirrored(2)},
		{"with a target that nobody knows", func(b *v1alpha1.PodUnavailableBudget) {
			b.Spec.Selector, b.Spec.TargetReference = nil, &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
		}, 2, nil, nil},
		{"with a selector of all pods", func(*v1alpha1.PodUnavailableBudget) {}, 2, &metav1.LabelSelector{}, nil},
		{"no pods are desired", func(*v1alpha1.PodUnavailableBudget) {}, 0, app, nil},
		{"no status yet", func(b *v1alpha1.PodUnavailableBudget) { b.Status.ObservedGeneration = 0 }, 3, app, nil},
		{"evictions are not its affair", func(b *v1alpha1.PodUnavailableBudget) {
			b.Annotations = map[string]string{v1alpha1.PubProtectOperationAnnotation: "DELETE,UPDATE"}
		}, 3, app, nil},
		{"it is being deleted", func(b *v1alpha1.PodUnavailableBudget) { b.DeletionTimestamp = &metav1.Time{Time: start} }, 3, app, nil},
	} {
		b := &v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"}, Spec: v1alpha1.PodUnavailableBudgetSpec{Selector: app}}
		b.Status.ObservedGeneration = 1
		test.change(b)
		b.Status.DesiredAvailable = test.desired
		got := budget.Mirror(b, &b.Status, test.selector)
		switch {
		case (got == nil) != (test.want == nil):
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		case got == nil:
		case got.Labels["app.kubernetes.io/managed-by"] != "podunavailablebudget-controller" || got.Namespace != "shop" || got.Name != "web" || !metav1.IsControlledBy(got, b):
			t.Errorf("%s: %+v", test.name, got.ObjectMeta)
		default:
			if diff := cmp.Diff(*test.want, got.Spec); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
	}
}

// mirrorOf is a PodDisruptionBudget that shows a budget of that name, of pods with the label.
func mirrorOf(name string, selector map[string]string) *policyv1.PodDisruptionBudget {
	b := newBudget(selecting(selector))
	b.Name = name
	return budget.Mirror(b, &b.Status, b.Spec.Selector)
}

// PUB-32: there is no mirror that could deny for good what the budget allows.
func TestStricter(t *testing.T) {
	app := map[string]string{"app": "web"}
	unprotected := annotate(v1alpha1.PodPubNoProtectionAnnotation, "true")
	related := func(name string) func(*corev1.Pod) { return annotate(v1alpha1.RelatedPubAnnotation, name) }
	for _, test := range []struct {
		name   string
		pods   []*corev1.Pod // of the budget, and those of others after them
		others []*corev1.Pod
		want   string
	}{
		{"its own", newPods(2), nil, ""},
		{"no pods yet", nil, nil, ""},
		{"not told yet", newPods(1, related("")), nil, ""},
		{"one that is not ready", []*corev1.Pod{newPod("a", unready, unprotected)}, []*corev1.Pod{newPod("b", unready, related(""))}, ""},
		{"one that was released", newPods(1), []*corev1.Pod{newPod("old", bare)}, "the selector selects pod old, which the budget does not protect"},
		{"that go, or have ended", newPods(1), []*corev1.Pod{newPod("b", deleting, related("")), newPod("c", phase(corev1.PodSucceeded), related(""))}, ""},
		{"of others, with other labels", newPods(1), []*corev1.Pod{newPod("b", label("app", "db"), related("db"))}, ""},
		{"one without protection", []*corev1.Pod{newPod("a"), newPod("b", unprotected)}, nil, "pod b has the annotation pub.kruise.io/no-protect"},
		{"protected in so many words", newPods(1, annotate(v1alpha1.PodPubNoProtectionAnnotation, "false")), nil, ""},
		{"one that is held out", newPods(1, label(v1alpha1.UnavailablePodLabelPrefix+"x", "1")), nil, "pod pod-0 counts as unavailable though it is ready"},
		{"one of nobody", newPods(1), []*corev1.Pod{newPod("b", related(""))}, "the selector selects pod b, which the budget does not protect"},
		{"one of another budget", newPods(1, related("first")), nil, "the selector selects pod pod-0, which the budget does not protect"},
		{"one that the selector leaves out", []*corev1.Pod{newPod("a", label("app", "canary"))}, nil, "the selector of the workload does not select pod a, which counts"},
	} {
		b := newBudget()
		all := append(slices.Clone(test.pods), test.others...)
		if got := budget.Stricter(b, budget.Selection{Pods: test.pods}, mirrorOf("web", app), all); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// PUB-32: two PodDisruptionBudgets of a pod make its eviction fail.
func TestOverlap(t *testing.T) {
	app := map[string]string{"app": "web"}
	foreign := func(name string, selector *metav1.LabelSelector) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector}}
	}
	some := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for _, test := range []struct {
		name   string
		exists bool
		other  *policyv1.PodDisruptionBudget
		pods   []*corev1.Pod
		want   string
	}{
		{"itself", true, mirrorOf("web", app), newPods(2), " "},
		{"of other pods", false, foreign("a", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}), newPods(2), " "},
		{"of no pods", false, foreign("a", nil), newPods(2), " "},
		{"of the same pods", false, foreign("z", some), newPods(2), "z pod-0"},
		{"of all pods", true, foreign("z", &metav1.LabelSelector{}), newPods(2), "z pod-0"},
		{"of one of them", false, foreign("z", &metav1.LabelSelector{MatchLabels: map[string]string{"track": "canary"}}), []*corev1.Pod{newPod("a"), newPod("b", label("track", "canary"))}, "z b"},
		{"of pods that go", false, foreign("z", some), newPods(2, deleting), " "},
		{"a mirror that exists comes before those of later budgets", true, mirrorOf("x", app), newPods(2), " "},
		{"and yields to those of earlier ones", true, mirrorOf("a", app), newPods(2), "a pod-0"},
		{"one that does not exist yields to all", false, mirrorOf("x", app), newPods(2), "x pod-0"},
		{"what cannot be read", true, foreign("z", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "x"}}}), newPods(2), " "},
	} {
		other, pod := budget.Overlap(mirrorOf("web", app), test.exists, []*policyv1.PodDisruptionBudget{test.other}, test.pods)
		if got := other + " " + pod; got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
