// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.CloneSet]{Create: ValidateCreate, Update: ValidateUpdate, Immutable: map[string]string{
		"selector": `{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}`,
	}}, simulated(bug{}))
}
