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
