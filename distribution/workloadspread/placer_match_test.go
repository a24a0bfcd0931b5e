// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"strings"
	"testing"

	"github.com/podwright/podwright/lifecycle/podwebhook"
)

var _ podwebhook.Step = (*Placer)(nil)

// WS-26: while it does not run it is not known about which pods it is asked.
func TestPlacerMatchExpression(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		unfilled, err := NewPlacer(c.options)
		c.Must(err)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := unfilled.MatchExpression(over); err == nil || !strings.Contains(err.Error(), "not filled yet") {
			t.Errorf("WS-26: before it runs: error %v", err)
		}
	})
}
