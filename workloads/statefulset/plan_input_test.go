// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/snapshots"
)

func TestSnapshots(t *testing.T) {
	snapshots.Check(t, NewPlan, func() *Snapshot {
		return testSnapshot(t, "B/A 0A 1B 3A replicas=3 claimed")
	})
}
