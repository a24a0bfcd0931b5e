// SPDX-License-Identifier: Apache-2.0

package sidecarset

import "testing"

// SCS-27: a pod whose own application crashes holds the place of others; the status names it.
func TestHeldUp(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create("", "web-a", "web-b", "web-c")
		c.Settle()
		crash := func() {
			c.PatchPod("web-b", `{"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"ContainersReady","status":"False"}],
			"containerStatuses":[{"name":"main","image":"nginx:1","state":{"waiting":{"reason":"CrashLoopBackOff"}}},{"name":"log","image":"log:1","imageID":"sha256:log:1","ready":true}]}}`, "status")
		}
		crash()
		_, stop := c.start()
		defer stop()
		c.setLog("log:2")
		c.Sleep("1s")
		c.KubeletStep()
		crash()
		c.ExpectHeldUp("CrashLoop: pod default/web-b: container main of image nginx:1: CrashLoopBackOff; maxUnavailable 1: 1 pod out of service because of updates")
	})
}
