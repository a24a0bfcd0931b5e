// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// IP-39: the feature is switched off between the record of a resize and its request. Pods serve, and those that never get
// what their revision says are recreated if that is allowed.
func TestResizeIsSwitchedOff(t *testing.T) {
	for _, restart := range []string{"", restartsForCPU} {
		for _, kind := range []string{"InPlaceIfPossible", "InPlaceOnly"} {
			t.Run(kind+restart, func(t *testing.T) {
				inCluster(t, func(t *testing.T, c *cluster) {
					c.resizable(gives)
					c.create(4, c.sizedTemplate(kind, restart))
					_, stop := c.start()
					c.Minute()
					c.FailBefore(fixture.Fail("patch pods/resize", fixture.ErrQuota))
					c.setCPU("2", restart)
					c.Sleep("100ms")
					stop()
					c.FailBefore(nil)
					c.options.Features.InPlaceResize = false
					c.restart()
					_, stop = c.start()
					for range 10 {
						c.Minute()
					}
					status, updated, cpu := c.get().Status, int32(4), "2/2"
					if kind == "InPlaceOnly" {
						updated, cpu = 0, "1/1"
						if waits := strings.Join(c.waits(), "; "); !strings.Contains(waits, "the feature is off") || !strings.Contains(strings.Join(c.Conditions(), "; "), "the feature is off") {
							t.Errorf("waits %s, conditions %v", waits, c.Conditions())
						}
					}
					if diff := cmp.Diff([]string{cpu}, cpus(c.Pods())); diff != "" || status.AvailableReplicas != 4 || status.UpdatedReplicas != updated {
						t.Errorf("status %+v; cpu (-want +got):\n%s", status, diff)
					}
					stop()
					c.options.Features.InPlaceResize = true
					c.restart()
					_, stop = c.start()
					defer stop()
					for range 10 {
						c.Minute()
					}
					if diff := cmp.Diff([]string{"2/2"}, cpus(c.Pods())); diff != "" || c.get().Status.UpdatedAvailableReplicas != 4 || len(c.Conditions()) > 0 {
						t.Errorf("switched on again: conditions %v; cpu (-want +got):\n%s", c.Conditions(), diff)
					}
				})
			})
		}
	}
}
