// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1beta1.StatefulSet]{Create: ValidateCreate, Update: ValidateUpdate, Immutable: map[string]string{
		"selector":            `{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}`,
		"serviceName":         `{"serviceName":"other"}`,
		"podManagementPolicy": `{"podManagementPolicy":"Parallel"}`,
	}}, simulated(bug{}), later(bug{}))
}
