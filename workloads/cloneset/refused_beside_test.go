// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestRefusedBesideADeniedUpdate: CT-3, CT-10. A budget that denies one pod is asked once a second. The recreations of the others, which it
// allows and the API server refuses, are not tried as often for that.
func TestRefusedBesideADeniedUpdate(t *testing.T) {
	for _, unavailable := range []int{1, 3} {
		t.Run(fmt.Sprint("CT-3: maxUnavailable ", unavailable), func(t *testing.T) { refusedBesideADenied(t, unavailable) })
	}
}

func refusedBesideADenied(t *testing.T, unavailable int) {
	inCluster(t, func(t *testing.T, c *cluster) {
		budget := &exhausted{asked: map[string]int{}}
		c.options.Budget = budget
		c.create(3, fmt.Sprintf(`{"spec":{"updateStrategy":{"type":"ReCreate","maxUnavailable":%d}}}`, unavailable))
		_, stop := c.start()
		defer stop()
		c.Minute()
		for i, pod := range c.PodNames() {
			c.PatchPod(pod, `{"metadata":{"annotations":{"kruise.io/related-pub":"web"},"labels":{"budget":"`+[]string{"exhausted", "other", "other"}[i]+`"}}}`)
		}
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "delete pods" {
				return fixture.ErrQuota
			}
			return nil
		})
		c.ForgetRequests()
		c.SetImage("nginx:2")
		c.Sleep("1h")
		if sent := c.Count(fixture.ControllerUser); sent["delete pods"] > 30*2 || sent["delete pods"] < 10*2 {
			t.Errorf("in an hour %v", c.Sent())
		}
		if n := budget.asked["exhausted"]; n < 3000 {
			t.Errorf("the exhausted budget was asked %d times in an hour", n)
		}
		c.FailBefore(nil)
		for range 20 {
			c.Sleep("30s")
			c.KubeletStep()
		}
		if got := strings.Count(strings.Join(c.images(), " "), "nginx:2"); got != 2 {
			t.Errorf("when deletions are served, %d pods are updated, want 2", got)
		}
	})
}
