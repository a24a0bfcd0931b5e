// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"testing"
	"time"
)

// TestRevisionsBackAndForth has a user go from one image to another and back, ten times in ten minutes. No update waits as a
// contested write does, however often the same was written before. (CT-12)
func TestRevisionsBackAndForth(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":"100%"}}}`)
		_, stop := c.start()
		defer stop()
		c.Minute()
		for i := range 10 {
			c.SetImage(fmt.Sprint("nginx:", 1+(i+1)%2))
			begin := time.Now()
			for c.get().Status.UpdatedAvailableReplicas != 3 || c.get().Status.ObservedGeneration != c.get().Generation {
				if time.Since(begin) > 20*time.Second {
					t.Fatalf("update %d is not done after 20 s: %+v", i, c.get().Status)
				}
				c.KubeletStep()
				c.Sleep("1s")
			}
			c.Sleep("40s")
		}
	})
}

// TestStatusOfAPodThatFlaps has a pod be ready and not, again and again. The condition Reconciling of the status comes and goes
// with it. The status does not wait as a contested write does. (CT-12)
func TestStatusOfAPodThatFlaps(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, "")
		_, stop := c.start()
		defer stop()
		c.Minute()
		pod := c.PodNames()[0]
		for i := range 20 {
			for _, status := range []string{"False", "True"} {
				c.PatchPod(pod, `{"status":{"conditions":[{"type":"Ready","status":"`+status+`"}]}}`, "status")
				c.Sleep("2s")
				if got, want := c.get().Status.ReadyReplicas, map[string]int32{"False": 2, "True": 3}[status]; got != want {
					t.Fatalf("round %d: two seconds after Ready has become %s, the status says that %d pods are ready, want %d", i, status, got, want)
				}
			}
			c.Sleep("10s")
		}
	})
}
