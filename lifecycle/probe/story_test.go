// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// PPM-1.6, PPM-3.8: a marker has a long script, which no webhook has seen. It keeps no other marker from having its probes
// changed. The pods and the marker say why the script is not run.
func TestLongScript(t *testing.T) {
	play(t, func(c *cluster) {
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == nodeUser && r.Resource == "nodepodprobes" && len(r.Body) > 3<<19 { // --max-request-bytes of etcd
				return apierrors.NewRequestEntityTooLargeError("etcdserver: request is too large")
			}
			return nil
		})
		c.addNode("n1")
		c.addPod("n1", "victim-0", "victim")
		for i := range 30 {
			c.addPod("n1", fmt.Sprint("big-", i), "big")
		}
		c.mark("big", "big", `[{name: p, containerName: main, podConditionType: example.com/big, probe: {exec: {command: [sh, -c, "`+strings.Repeat("x", 60<<10)+`"]}}}]`)
		c.Sleep(time.Minute)
		c.mark("victim", "victim", `[{name: p, containerName: main, podConditionType: example.com/victim, probe: {exec: {command: [ok]}}}]`)
		c.Sleep(time.Minute)
		expect(c, "the probes of the node", []string{"n1 victim-0 victim#p"}, c.probed())
		if n := c.events.Count("ProbesLeftOut"); n != 1 {
			c.Errorf("%d events about probes that are left out", n)
		}
		if got := c.pod("big-7"); !strings.Contains(got, "example.com/big=Unknown") {
			c.Errorf("the pod says %s", got)
		}
		c.FailBefore(nil)
	})
}
