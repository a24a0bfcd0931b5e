// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// BJ-28: a user deletes a pod whose node is dead, and which tolerates that: it terminates for ever. The job says what it waits
// for, also to who comes later, and completes.
func TestPodThatTerminatesForEver(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		c.ends = func(node string) (corev1.PodPhase, bool) { return corev1.PodSucceeded, node == "n1" }
		_, stop := c.start()
		c.Create(testJob("web"), `{"spec":{"failurePolicy":{"type":"Continue"}}}`)
		for range 4 {
			c.Sleep("1s")
			c.nodeStep()
		}
		for _, pod := range c.Pods() {
			if pod.Spec.NodeName == "n2" { // the kubelet is dead, and takes no step from here on
				c.Must(c.Kube.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}))
			}
		}
		said := func() bool { return strings.Contains(c.outcome(), string(v1alpha1.JobPodTerminating)+": ") }
		c.Sleep("1m") // grace, and a part of the time to say so
		if said() || c.Events.Count(eventPodTerminating) > 0 {
			t.Errorf("BJ-28: it is too early to say that a pod terminates: %s", c.outcome())
		}
		c.Sleep("5m")
		if !said() || !strings.Contains(c.outcome(), "n2") || c.Events.Count(eventPodTerminating) != 1 {
			t.Errorf("BJ-28: it waits for the pod of n2, and does not say so: %s", c.outcome())
		}
		stop()
		_, stop = c.start()
		defer stop()
		c.Sleep("6m")
		if phase := c.get().Status.Phase; phase != "running" {
			t.Errorf("BJ-28: the phase is %s before the time is over", phase)
		}
		c.Sleep("10m")
		if got := c.outcome(); !strings.HasPrefix(got, "completed desired=2 active=0 succeeded=1 failed=1") || said() || c.Events.Count(eventPodNotTerminated) != 1 {
			t.Errorf("BJ-28: the job does not complete: %s", got)
		}
	})
}
