// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"testing"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.WorkloadSpread]{Create: spread.ValidateCreate, Update: spread.ValidateUpdate,
		Immutable: map[string]string{"targetRef.kind": `{"targetRef":{"kind":"Deployment","apiVersion":"apps/v1"}}`, "targetRef.name": `{"targetRef":{"name":"other"}}`}}, simulated(&bug{}))
}
