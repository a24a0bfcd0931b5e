// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"testing"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.PodUnavailableBudget]{Create: budget.ValidateCreate, Update: budget.ValidateUpdate,
		Immutable: map[string]string{"selector": `{"selector":{"matchLabels":{"app":"other"}}}`, "targetRef": `{"targetRef":{"name":"other"}}`}}, simulated(&bug{}))
}
