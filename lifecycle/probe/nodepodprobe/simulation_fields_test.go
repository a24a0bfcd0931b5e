// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.PodProbeMarker]{Create: podprobemarker.ValidateCreate, Update: podprobemarker.ValidateUpdate,
		Immutable: map[string]string{"selector": `{"selector":{"matchLabels":{"app":"other"}}}`}}, simulated(&bug{}))
}
