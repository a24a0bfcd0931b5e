// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/snapshots"
)

func TestSnapshots(t *testing.T) {
	snapshots.Check(t, NewPlan, func() *Snapshot {
		return place(t, setOf(t, inPlace), "n1:v1 n2:v1+down n3 n4:v2")
	})
}
