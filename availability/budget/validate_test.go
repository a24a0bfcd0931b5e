// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// What the rules of the definition say as well is tested with them, in examples/tests/crds.
func TestValidate(t *testing.T) {
	app := map[string]string{"app": "web"}
	for _, tt := range []struct {
		name string
		b    *v1alpha1.PodUnavailableBudget
		want string // the first field, and part of what is said of it; empty: it is right
	}{
		{"PUB-22: a target", newBudget(), ""},
		{"PUB-22: a selector", newBudget(selecting(app)), ""},
		{"PUB-22: operations", newBudget(protecting("DELETE,EVICT")), ""},
		{"PUB-22: resizes", newBudget(protecting("RESIZE,UPDATE")), ""},
		{"PUB-22: no operations", newBudget(protecting("")), `metadata.annotations[kruise.io/pub-protect-operations]: Invalid value: "": "" is none`},
		{"PUB-22: a space", newBudget(protecting("DELETE, EVICT")), `metadata.annotations[kruise.io/pub-protect-operations]: Invalid value: "DELETE, EVICT": " EVICT" is none`},
		{"PUB-22: a total", newBudget(protectTotal("10")), ""},
		{"PUB-22: no number", newBudget(protectTotal("ten")), `metadata.annotations[pub.kruise.io/protect-total-replicas]: Invalid value: "ten"`},
		{"PUB-22: a number that is too large", newBudget(protectTotal("10000000000")), `metadata.annotations[pub.kruise.io/protect-total-replicas]`},
		{"PUB-22: a label that none can have", newBudget(selecting(map[string]string{"app": "?"})), "spec.selector.matchLabels"},
		{"PUB-22: a percentage with a sign", newBudget(maxUnavailable("+5%")), `spec.maxUnavailable: Invalid value: "+5%"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			errs := budget.ValidateCreate(tt.b)
			if (len(errs) == 0) != (tt.want == "") || len(errs) > 0 && !strings.HasPrefix(errs[0].Error(), tt.want) {
				t.Errorf("got %v, want %q", errs, tt.want)
			}
			if again := budget.ValidateUpdate(tt.b, tt.b); len(again) != len(errs) {
				t.Errorf("saved again: %v", again)
			}
		})
	}
	for _, changed := range []*v1alpha1.PodUnavailableBudget{
		newBudget(selecting(app)), newBudget(func(b *v1alpha1.PodUnavailableBudget) { b.Spec.TargetReference.Name = "other" }),
	} {
		if errs := budget.ValidateUpdate(changed, newBudget()); len(errs) != 1 || !strings.Contains(errs[0].Error(), "selector and targetRef cannot be modified") {
			t.Errorf("PUB-22: got %v", errs)
		}
	}
}
