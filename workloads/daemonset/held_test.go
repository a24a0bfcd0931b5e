// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"strings"
	"testing"
)

// DS-23: a kubelet that rejects each pod of its node holds up the update, and the status names the node and the cause.
func TestHeldUpByANode(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.AddNodes(newNodes(3)...)
		c.Create(testSet("web"), "{}")
		c.Settle()
		_, stop := c.Run()
		defer stop()
		c.SetImage("nginx:2")
		c.Sleep("1s")
		c.ForgetRequests()
		for range 1800 { // the node of the first pod that is updated
			for _, pod := range c.Pods() {
				if pod.Spec.Containers[0].Image == "nginx:2" && pod.Status.Phase != "Failed" && pod.DeletionTimestamp == nil {
					c.PatchPod(pod.Name, `{"status":{"phase":"Failed","reason":"OutOfcpu","message":"Node has no room"}}`, "status")
				}
			}
			c.KubeletStep()
			c.Sleep("1s")
		}
		if got := c.HeldUp(); !strings.HasPrefix(got, "Rejected: node n3: pod web-") || !strings.Contains(got, ": the pod has ended (OutOfcpu): Node has no room; maxUnavailable 1: ") {
			t.Errorf("held up: %q", got)
		}
		for _, sent := range c.Sent() {
			var n int
			if _, err := fmt.Sscanf(sent, "%d patch daemonsets/status", &n); err == nil && n > 60 {
				t.Errorf("the status was written %d times in half an hour", n)
			}
		}
	})
}
