// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// A thousand nodes and one job: one request per node to assign, and one to
// clean. Nothing per heartbeat.
func TestRequestsOfAThousandNodes(t *testing.T) {
	const nodes = 1000
	play(t, func(t *testing.T, c *cluster) {
		c.addNodes(nodes)
		c.share()
		c.start()
		c.Sleep(time.Minute)
		c.expectSent("the NodeImages are created", nil, []string{"1000 create nodeimages"})

		c.addJob("pull", "parallelism: 25%\ncompletionPolicy: {ttlSecondsAfterFinished: 600}")
		for range 4 { // 250 nodes at a time, which take 20 s
			c.agents(always(v1alpha1.ImagePhasePulling))
			c.Sleep(20 * time.Second)
			c.agents(always(v1alpha1.ImagePhaseSucceeded))
			c.Sleep(time.Second)
		}
		job := c.job("pull")
		if job.Status.Succeeded != nodes || job.Status.CompletionTime == nil {
			t.Errorf("status: %+v", job.Status)
		}
		var statuses int
		if _, err := fmt.Sscanf(c.sent(jobUser)[1], "%d patch imagepulljobs/status", &statuses); err != nil || statuses > 10 {
			t.Errorf("%d writes of the job's status (%v), want 10 at most: %v", statuses, err, c.sent(jobUser))
		}
		c.expectSent("the tasks are assigned", []string{"1000 patch nodeimages", fmt.Sprint(statuses, " patch imagepulljobs/status")}, []string{})

		jobReconciles, nodeReconciles := c.jobReconciles.Count(), c.nodeReconciles.Count()
		c.heartbeat()
		c.Sleep(10 * time.Second)
		c.expectSent("heartbeats", []string{}, []string{})
		if n := c.jobReconciles.Count() - jobReconciles + c.nodeReconciles.Count() - nodeReconciles; n != 0 {
			t.Errorf("heartbeats cost %d reconciles", n)
		}

		c.Sleep(10 * time.Minute)
		c.expectSent("the job is deleted, and the nodes are cleaned", []string{"1 delete imagepulljobs"},
			[]string{"1 get imagepulljobs", "1000 patch nodeimages"})
		if left := c.tasks(); len(left) > 0 {
			t.Errorf("%d tasks are left", len(left))
		}

		c.Stop()
		c.ForgetRequests()
		c.share()
		c.start()
		c.Sleep(time.Minute)
		c.expectSent("a restart", []string{}, []string{})
	})
}

// expectSent compares what both controllers have sent, and forgets it. Nil is
// not compared.
func (c *cluster) expectSent(what string, byJobs, byNodes []string) {
	c.Helper()
	for user, want := range map[string][]string{jobUser: byJobs, nodeUser: byNodes} {
		if diff := cmp.Diff(want, c.sent(user)); want != nil && diff != "" {
			c.Errorf("%s: requests of the %s (-want +got):\n%s", what, user, diff)
		}
	}
	c.ForgetRequests()
}
