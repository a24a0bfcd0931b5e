// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/scenario"
)

// TestScripts plays the rollouts in testdata: see scenario.RunScripts.
func TestScripts(t *testing.T) {
	scenario.RunScripts(t, "testdata/scripts", func(t *testing.T) (*scenario.Cluster, scenario.Player) {
		w := newScenario(t)
		return w.Cluster, w
	})
}
