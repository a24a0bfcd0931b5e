// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PPM-3.9: what runs the pods of a virtual node writes conditions, and labels and annotations follow: one request a change. A node that
// ceases to be virtual is probed by its agent.
func TestServerless(t *testing.T) {
	play(t, func(c *cluster) {
		c.addNode("n1")
		label := func(value string) {
			_, err := c.kube.CoreV1().Nodes().Patch(c.Context(), "n1", types.MergePatchType, []byte(`{"metadata":{"labels":{"type":`+value+`}}}`), metav1.PatchOptions{})
			c.must(err)
			c.pause(time.Second)
		}
		label(`"virtual-kubelet"`)
		c.mark("games", "web", idle)
		c.addPod("n1", "web-0", "web")
		c.pause(time.Second)
		c.sent()
		provide := func(pod, status string) {
			_, err := c.kube.CoreV1().Pods(namespace).Patch(c.Context(), pod, types.StrategicMergePatchType, fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Idle","status":%q}]}}`, status), metav1.PatchOptions{}, "status")
			c.must(err)
			c.pause(time.Second)
		}
		for _, step := range []struct {
			status, want string
			requests     []string
		}{
			{"True", "idle=yes cost=-10 Idle=True", []string{"1 patch pods/status"}},
			{"False", "idle=no cost= Idle=False", []string{"1 patch pods/status"}},
			{"Unknown", "idle=no cost= Idle=Unknown", nil},
		} {
			provide("web-0", step.status)
			expect(c, "PPM-3.9: "+step.status, step.want, c.pod("web-0"))
			expect(c, "PPM-3.9: one write a transition, "+step.status, step.requests, c.sent())
		}
		expect(c, "PPM-3.9: no agent is asked", nil, c.probed())
		m, err := c.markers.Get(c.Context(), "games", metav1.GetOptions{})
		c.must(err)
		expect(c, "PPM-2.3: pods of virtual nodes count", 1, m.Status.MatchedPods)

		label("null")
		expect(c, "PPM-3.1: it has an agent now", []string{"n1 web-0 games#idle"}, c.probed())
		c.sent()
		label(`"virtual-kubelet"`)
		expect(c, "PPM-3.9: and has none again", nil, c.probed())
	}, func(c *cluster) { c.serverless = true })
}
