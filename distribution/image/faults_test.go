// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// failing makes the requests of a controller that begin like that fail, as
// often as times says; less than 0: always.
func failing(user, what string, times int32, err error) func(fakecluster.Request) error {
	var left atomic.Int32
	left.Store(times)
	return func(r fakecluster.Request) error {
		if r.User == user && strings.HasPrefix(r.String()+" "+r.Name, what) && (times < 0 || left.Add(-1) >= 0) {
			return err
		}
		return nil
	}
}

// Whatever answer is lost, every node gets its task once, and loses it once.
func TestLostAnswers(t *testing.T) {
	for _, lost := range []struct{ user, what string }{
		{jobUser, "patch nodeimages n0001"}, {jobUser, "patch imagepulljobs/status"}, {jobUser, "delete imagepulljobs"},
		{nodeUser, "patch nodeimages n0001"}, {nodeUser, "create nodeimages"},
	} {
		t.Run(lost.user+": "+lost.what, func(t *testing.T) {
			play(t, func(t *testing.T, c *cluster) {
				var happened atomic.Bool
				fail := failing(lost.user, lost.what, 1, fixture.ErrLost)
				c.FailAfter(func(r fakecluster.Request) error {
					err := fail(r)
					happened.CompareAndSwap(false, err != nil)
					return err
				})
				c.begin(2)
				c.addJob("pull", "parallelism: 2\ncompletionPolicy: {ttlSecondsAfterFinished: 5}")
				c.Sleep(time.Second)
				c.expectTasks("IMG-1.4", "n0000 nginx:1 v1 pull", "n0001 nginx:1 v1 pull")
				c.agents(always(succeeded))
				c.Sleep(time.Minute)
				c.expectTasks("IMG-2.3")
				if list, err := c.jobs.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
					t.Errorf("the job is still there: %+v, %v", list, err)
				}
				if !happened.Load() {
					t.Error("no answer was lost")
				}
			})
		})
	}
}

// Another writer of the same NodeImage costs a second attempt, and nothing of
// what it wrote.
func TestConflicts(t *testing.T) {
	play(t, func(_ *testing.T, c *cluster) {
		c.begin(1)
		var once atomic.Bool
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == jobUser && r.String() == "patch nodeimages" && once.CompareAndSwap(false, true) {
				_, err := c.images.Patch(c.Context(), "n0000", types.MergePatchType,
					[]byte(`{"spec":{"images":{"nginx":{"tags":[{"tag":"0","createdAt":"2000-01-01T00:00:00Z","version":1}]}}}}`), metav1.PatchOptions{})
				return err
			}
			return nil
		})
		c.addJob("pull", "")
		c.Sleep(time.Second)
		c.expectTasks("both", "n0000 nginx:0 v1", "n0000 nginx:1 v1 pull")
	})
}
