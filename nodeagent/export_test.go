// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"testing"
	"time"
)

func init() { probeTimeout, probeAgain, doubt = 2*time.Second, 50*time.Millisecond, 3*time.Second }

// FindSoon has Find wait shorter, until the test ends, for sockets that do not answer.
func FindSoon(t *testing.T) {
	timeout, again, after := probeTimeout, probeAgain, doubt
	t.Cleanup(func() { probeTimeout, probeAgain, doubt = timeout, again, after })
	probeTimeout, probeAgain, doubt = 200*time.Millisecond, 10*time.Millisecond, 300*time.Millisecond
}
