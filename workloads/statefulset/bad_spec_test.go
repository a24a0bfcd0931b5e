// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// No pod is updated to a template that the selector does not match. It would be released, and keep its name from the next pod. A
// pod that is prepared returns to service.
func TestUpdateThatTheSelectorDoesNotMatch(t *testing.T) {
	for _, spec := range []string{"podUpdatePolicy=ReCreate", "podUpdatePolicy=InPlaceIfPossible", "podUpdatePolicy=InPlaceOnly",
		"podUpdatePolicy=InPlaceIfPossible inPlaceUpdate=hold", "podUpdatePolicy=InPlaceOnly inPlaceUpdate=hold"} {
		t.Run(spec, func(t *testing.T) {
			w := newScenario(t)
			w.Spec("replicas=4", "partition=2")
			w.Spec(strings.Fields(spec)...)
			w.Settle(w.Reconcile, &strings.Builder{})
			for i, pod := range w.Pods {
				w.Pods[i] = pod.DeepCopy()
				w.Pods[i].Labels["hold"] = "true"
			}
			w.Spec("image=nginx:2")
			w.Settle(w.Reconcile, &strings.Builder{})
			w.set.Spec.Template.Labels["app"] = "other"
			w.Settle(w.Reconcile, &strings.Builder{})
			plan := NewPlan(w.snapshot())
			const want = `: spec.selector "app=web" does not match the labels of the template, "app=other"`
			if len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Err.Error(), want) {
				t.Errorf("problems %v, want %q", plan.Problems, want)
			}
			if len(w.Pods) != 4 {
				t.Errorf("%d pods, want the 4 that there were", len(w.Pods))
			}
			for _, pod := range w.Pods {
				if lifecycle.StateOf(pod) != lifecyclev1alpha1.StateNormal || metav1.GetControllerOf(pod) == nil {
					t.Errorf("pod %s has the state %s and the owners %v", pod.Name, lifecycle.StateOf(pod), pod.OwnerReferences)
				}
			}
		})
	}
}
