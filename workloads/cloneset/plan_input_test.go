// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/snapshots"
)

func TestSnapshots(t *testing.T) {
	snapshots.Check(t, NewPlan, func() *Snapshot {
		w := newScenario(t)
		w.Spec("replicas=3", "claims=data", "type=InPlaceIfPossible")
		w.settle()
		w.Spec("image=nginx:2")
		return w.snapshot()
	})
}
