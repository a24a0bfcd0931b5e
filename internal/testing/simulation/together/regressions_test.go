// SPDX-License-Identifier: Apache-2.0

package together

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"
)

// TestSimulationRegressions plays histories in which bugs were found.
func TestSimulationRegressions(t *testing.T) {
	simulation.Replay(t, []simulation.Regression{
		{Found: "another image in service, where an update in its grace period had followed an unfinished one", Seed: 1882671572584381, Workload: simulated(&bug{})},
	})
}
