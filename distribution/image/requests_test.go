// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
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

// The reconciles of the nodes of a job that goes all want to know at once whether it is gone: one asks.
func TestOneLookPerJobThatIsGone(t *testing.T) {
	for name, fails := range map[string]int32{"answered": 0, "the first look fails": 1} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, c *cluster) {
				const nodes = 9
				c.nodeOptions.Workers = nodes
				c.begin(nodes)
				c.addJob("pull", "parallelism: 9")
				c.ForgetRequests()
				fail := failing(nodeUser, "get imagepulljobs", fails, fixture.ErrInternal)
				c.FailBefore(func(r fakecluster.Request) error {
					if r.User == nodeUser && r.String() == "get imagepulljobs" {
						time.Sleep(time.Second) // the answer takes a while
					}
					return fail(r)
				})
				c.Must(c.jobs.Delete(t.Context(), "pull", metav1.DeleteOptions{}))
				c.Sleep(time.Minute)
				c.expectTasks("IMG-2.3")
				c.expectSent("a job is gone", nil, []string{fmt.Sprint(1+fails, " get imagepulljobs"), "9 patch nodeimages"})
			})
		})
	}
}
