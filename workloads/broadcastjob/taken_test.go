// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// BJ-12, BJ-21: a user takes a pod out of a job, to look into it. The pod goes on to have its name, and
// its node gets another one.
func TestPodOfTheNameIsSomebodyElses(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.addNodes("n1", "n2")
			c.ends = func(string) (corev1.PodPhase, bool) { return "", false }
			_, stop := c.start()
			c.Create(testJob("web"), "")
			c.settle()
			for _, pod := range c.Pods() {
				if pod.Spec.NodeName == "n1" {
					_, err := c.Kube.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`), metav1.PatchOptions{})
					c.Must(err)
				}
			}
			if restarts {
				stop()
				_, stop = c.start()
			}
			defer stop()
			c.settle()
			c.settle()
			on := map[string]int{}
			for _, pod := range c.Pods() {
				if metav1.GetControllerOf(&pod) != nil {
					on[scheduler.NodeOf(&pod)]++
				}
			}
			if len(on) != 2 || len(c.Pods()) != 3 {
				t.Errorf("restarted: %t: the job has pods on %v, of %d; events %v", restarts, on, len(c.Pods()), c.Events.All())
			}
			c.ForgetRequests()
			c.settle()
			if sent := c.Sent(); len(sent) > 0 {
				t.Errorf("requests go on: %v", sent)
			}
		})
	}
}
