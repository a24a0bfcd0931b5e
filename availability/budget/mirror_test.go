// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
		name    string
		change  func(*v1alpha1.PodUnavailableBudget)
		desired int32
		target  *metav1.LabelSelector
		want    *policyv1.PodDisruptionBudgetSpec
	}{
		{"with a selector", func(*v1alpha1.PodUnavailableBudget) {}, 3, nil, mirrored(3)},
		{"with a target", func(b *v1alpha1.PodUnavailableBudget) {
			b.Spec.Selector, b.Spec.TargetReference = nil, &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
		}, 2, app, mirrored(2)},
		{"with a target that nobody knows", func(b *v1alpha1.PodUnavailableBudget) {
			b.Spec.Selector, b.Spec.TargetReference = nil, &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
		}, 2, nil, nil},
		{"no pods are desired", func(*v1alpha1.PodUnavailableBudget) {}, 0, nil, nil},
		{"no status yet", func(b *v1alpha1.PodUnavailableBudget) { b.Status.ObservedGeneration = 0 }, 3, nil, nil},
		{"evictions are not its affair", func(b *v1alpha1.PodUnavailableBudget) {
			b.Annotations = map[string]string{v1alpha1.PubProtectOperationAnnotation: "DELETE,UPDATE"}
		}, 3, nil, nil},
		{"it is being deleted", func(b *v1alpha1.PodUnavailableBudget) { b.DeletionTimestamp = &metav1.Time{Time: start} }, 3, nil, nil},
	} {
		b := &v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"}, Spec: v1alpha1.PodUnavailableBudgetSpec{Selector: app}}
		b.Status.ObservedGeneration = 1
		test.change(b)
		b.Status.DesiredAvailable = test.desired
		got := budget.Mirror(b, &b.Status, test.target)
		switch {
		case (got == nil) != (test.want == nil):
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		case got == nil:
		case got.Namespace != "shop" || got.Name != "web" || !metav1.IsControlledBy(got, b):
			t.Errorf("%s: %+v", test.name, got.ObjectMeta)
		default:
			if diff := cmp.Diff(*test.want, got.Spec); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
	}
}
