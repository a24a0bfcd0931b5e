// SPDX-License-Identifier: Apache-2.0

package cloneset

import "testing"

// CS-23: a CloneSet whose pods are ready, but not for minReadySeconds yet, is scaled in at once.
func TestScaleInDoesNotWaitForMinReadySeconds(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(10, `{"spec":{"minReadySeconds":9999}}`)
		_, stop := c.start()
		defer stop()
		c.Minute()
		c.Edit(`{"spec":{"replicas":3}}`)
		c.Minute()
		if left := len(c.Pods()); left != 3 {
			t.Errorf("%d pods a minute later", left)
		}
	})
}
