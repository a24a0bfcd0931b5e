// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"testing"
	"time"
)

// TestRevisionsBackAndForth has a user go from one image to another and back, ten times in ten minutes: no update waits as a contested
// write does, however often the same was written before. (CT-12)
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
