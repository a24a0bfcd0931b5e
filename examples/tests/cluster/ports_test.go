// SPDX-License-Identifier: Apache-2.0

package cluster

import "testing"

// A port is given once, although no process listens on it.
func TestFreePort(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := takePort(port); taken || err != nil {
		t.Errorf("port %d is given twice (%v)", port, err)
	}
}
