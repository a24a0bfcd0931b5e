// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BJ-12: a pod that replaces another one on its node has another name.
func TestNoPodHasTheNameOfItsPredecessor(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		c.ends = func(string) (corev1.PodPhase, bool) { return "", false }
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), "")
		names := map[string]bool{}
		for range 4 {
			c.settle()
			pods := c.Pods()
			if len(pods) != 1 || names[pods[0].Name] {
				t.Fatalf("pods %v after %v", pods, names)
			}
			names[pods[0].Name] = true
			c.Must(c.Kube.CoreV1().Pods(web.Namespace).Delete(t.Context(), pods[0].Name, metav1.DeleteOptions{}))
		}
	})
}
