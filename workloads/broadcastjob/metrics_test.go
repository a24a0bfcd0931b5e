// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// BJ-26: the end of a job is measured once, whatever becomes of its pods and managers afterwards.
func TestEndsAreMeasured(t *testing.T) {
	for policy, want := range map[string]string{
		"Continue": "[completed after 8s: 2 succeeded, 1 failed]",
		"FailFast": "[failed after 6s: 0 succeeded, 3 failed]",
	} {
		t.Run(policy, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.addNodes("n1", "n2", "n3")
				start := time.Now()
				c.ends = func(node string) (corev1.PodPhase, bool) { // a pod is bound and runs after two steps of two seconds
					if node == "n1" {
						return corev1.PodFailed, true
					}
					return corev1.PodSucceeded, time.Since(start) > 7*time.Second
				}
				_, stop := c.start()
				c.Create(testJob("web"), fmt.Sprintf(`{"spec":{"failurePolicy":{"type":%q}}}`, policy))
				c.settle()
				c.settle()
				stop()
				_, stop = c.start()
				defer stop()
				c.settle()
				for _, pod := range c.Pods() {
					c.DeletePod(pod.Name)
				}
				c.settle()
				if got := fmt.Sprint(c.finished); got != want {
					t.Errorf("BJ-26: measured %s, want %s", got, want)
				}
			})
		})
	}
}
