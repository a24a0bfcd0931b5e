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
		c.addNodes(nodeNames(3)...)
		c.Create(testSet("web"), "{}")
		c.Settle()
		_, stop := c.start()
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

// DS-24: the second pod of a surge can never run beside the first one that has its host port, and the status says so.
func TestHeldUpByAHostPort(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes(nodeNames(2)...)
		c.Create(testSet("web"), `{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},
			"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","ports":[{"containerPort":80,"hostPort":8080}]}]}}}}`)
		c.Settle()
		_, stop := c.start()
		defer stop()
		c.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2","ports":[{"containerPort":80,"hostPort":8080}]}]}}}}`)
		c.Sleep("1s")
		first, second := "", ""
		for _, pod := range c.Pods() {
			if pod.Spec.Containers[0].Image == "nginx:2" {
				second = pod.Name
			}
		}
		for _, n := range c.Pods() {
			if n.Spec.NodeName == "n2" {
				first = n.Name
			}
		}
		c.ExpectHeldUp(fmt.Sprintf("HostPort: node n2: pod %s has host port 8080, which pod %s wants beside it; maxSurge 1: 1 nodes have an updated pod that is not available, or none, or get one now", first, second))
	})
}

// DS-23: a stored hook of a label that no pod can have is told, with its field and its value.
func TestHeldUpByAHook(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes(nodeNames(2)...)
		c.Create(testSet("web"), "{}")
		c.Settle()
		_, stop := c.start()
		defer stop()
		c.Edit(`{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"hold me":"true"}}}}}`)
		c.Sleep("2m")
		if got, want := c.HeldUp(), "BadValue: spec.lifecycle.preDelete.labelsHandler[hold me] is hold me: no pod can have this label: "; !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		c.Edit(`{"spec":{"lifecycle":null}}`)
		if c.Sleep("1m"); c.HeldUp() != "" {
			t.Errorf("without the hook: %s", c.HeldUp())
		}
	})
}
