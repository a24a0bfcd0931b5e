// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DS-7: a pod that replaces another one on its node has another name, also after a restart while
// that one is there.
func TestNoPodHasTheNameOfItsPredecessor(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		c.Create(testSet("web"), "{}")
		names := map[string]bool{}
		for i := range 6 {
			c.Settle()
			pods := c.Pods()
			if len(pods) != 1 || names[pods[0].Name] {
				t.Fatalf("pods %v after %v", pods, names)
			}
			names[pods[0].Name] = true
			if i%2 == 1 {
				c.restart()
				c.Settle()
			}
			c.Must(c.Kube.CoreV1().Pods(web.Namespace).Delete(t.Context(), pods[0].Name, metav1.DeleteOptions{}))
		}
	})
}
