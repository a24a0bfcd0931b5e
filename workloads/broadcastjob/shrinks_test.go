// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// BJ-12: pods that the status counts are gone, and the job may be gone too, although the cache shows it. The controller writes
// the status first, so that it creates no pods for a job that is gone.
func TestStatusThatShrinksIsWrittenFirst(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		c.ends = func(string) (corev1.PodPhase, bool) { return "", false }
		c.Create(testJob("web"), "")
		for range 3 {
			c.MustReconcile()
			c.nodeStep()
		}
		var writes []string
		c.FailAfter(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
				writes = append(writes, r.String())
			}
			return nil
		})
		c.addNodes("n3") // so that the status is due
		c.Hold("broadcastjobs")
		for _, pod := range c.Pods() {
			c.Must(c.Kube.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
		}
		c.Must(c.workloads(fixture.TestUser).BroadcastJobs(web.Namespace).Delete(t.Context(), web.Name, metav1.DeleteOptions{}))
		c.Sleep("1s")
		_, _ = c.Reconcile(t.Context(), web)
		if n := len(c.Pods()); n != 0 || strings.Contains(strings.Join(writes, " "), "create pods") {
			t.Errorf("BJ-12: %d pods are created for a job that is gone: %q", n, writes)
		}
	})
}
