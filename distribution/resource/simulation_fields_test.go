// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.ResourceDistribution]{Create: ValidateCreate, Update: ValidateUpdate,
		Elsewhere: map[string]string{"sourceRef.namespace": "TestReviewSource", "sourceRef.name": "TestPlans"}}, simulated(&spoil{}))
}
