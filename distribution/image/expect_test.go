// SPDX-License-Identifier: Apache-2.0

package image

import (
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

const succeeded, failed, pulling = v1alpha1.ImagePhaseSucceeded, v1alpha1.ImagePhaseFailed, v1alpha1.ImagePhasePulling

// expectTasks compares the tasks of all nodes; see cluster.tasks.
func (c *cluster) expectTasks(what string, want ...string) {
	c.Helper()
	if diff := cmp.Diff(append([]string{}, want...), c.tasks()); diff != "" {
		c.Errorf("%s: tasks (-want +got):\n%s", what, diff)
	}
}

func (c *cluster) expectMessage(job, want string) {
	c.Helper()
	if status := c.job(job).Status; status.Message != want {
		c.Errorf("job %s has the message %q, want %q; status %+v", job, status.Message, want, status)
	}
}

func (c *cluster) deleteJob(name string) {
	c.Helper()
	c.Must(c.jobs.Delete(c.Context(), name, metav1.DeleteOptions{}))
	c.Sleep(time.Second)
}

// begin has nodes with NodeImages, and both controllers running.
func (c *cluster) begin(nodes int) {
	c.Helper()
	c.addNodes(nodes)
	c.share()
	c.start()
	c.Sleep(31 * time.Second)
	c.ForgetRequests()
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
