// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"testing"
	"time"

	"github.com/podwright/podwright/examples/tests/cluster"
)

// Control starts a control plane with simulated nodes for one test, which stops it in the end. The first start on a machine builds
// it, which takes minutes.
func Control(t *testing.T) *cluster.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	control, err := cluster.Start(ctx, cluster.Options{Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := control.Stop(); err != nil {
			t.Error(err)
		}
	})
	return control
}
