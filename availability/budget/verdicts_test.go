// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"testing"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (PUB-41)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.PodUnavailableBudget]{
		Valid: `
metadata: {namespace: shop, name: web}
spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}`,
		Create: budget.ValidateCreate, Update: budget.ValidateUpdate, Unasked: true,
	})
}

// The annotation that says how many pods there should be is a number of pods: a negative one allowed everything. (PUB-41)
func TestProtectedTotals(t *testing.T) {
	for value, right := range map[string]bool{"0": true, "10": true, "-1": false, "ten": false, "": false, "2147483648": false} {
		b := &v1alpha1.PodUnavailableBudget{}
		b.Annotations = map[string]string{v1alpha1.PubProtectTotalReplicasAnnotation: value}
		found := false
		for _, err := range budget.ValidateCreate(b) {
			found = found || err.Field == "metadata.annotations["+v1alpha1.PubProtectTotalReplicasAnnotation+"]" && err.BadValue == value
		}
		if found == right {
			t.Errorf("%q: refused %t", value, found)
		}
		stored := b.DeepCopy()
		for _, err := range budget.ValidateUpdate(b, stored) {
			if value == "-1" && err.BadValue == value {
				t.Errorf("%q, which is stored: %v", value, err)
			}
		}
	}
}
