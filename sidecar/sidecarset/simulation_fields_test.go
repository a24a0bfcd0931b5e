// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	unedited := map[string]string{"containers[].restartPolicy": "admission takes none"}
	for _, of := range []string{"containers[].", "initContainers[]."} {
		unedited[of+"name"] = "under another name it is another container, and those that pods have go on"
		unedited[of+"restartPolicyRules"] = "it is alpha"
		unedited[of+"startupProbe"] = "TestSimulationOfStartupProbes has it when the object is created"
		unedited[of+"volumeDevices"] = "no volume of the histories is a block device"
	}
	editing.Check(t, editing.Subject[v1alpha1.SidecarSet]{Create: ValidateCreate, Update: ValidateUpdate, Unedited: unedited},
		simulated(bug{}), later(bug{}, Features{}), simulatedNatives(bug{}))
}
