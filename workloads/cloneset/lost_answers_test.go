// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"slices"
	"testing"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// A write whose answer is lost may have been made. Until that is known, nothing
// is done, whatever changes the CloneSet in the meantime.
func TestLostAnswers(t *testing.T) {
	t.Run("a deletion", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(5, `{"spec":{"updateStrategy":{"type":"ReCreate","maxUnavailable":1}}}`)
			c.Settle()
			first, second := c.PodNames()[0], c.PodNames()[1]
			c.Edit(`{"spec":{"scaleStrategy":{"podsToDelete":["` + first + `"]}}}`)
			c.Hold("pods")
			c.FailAfter(fixture.Fail("delete pods", fixture.ErrLost))
			c.MustFailReconcile(func(error) bool { return true })
			c.FailAfter(nil)
			c.Edit(`{"spec":{"scaleStrategy":{"podsToDelete":["` + second + `"]}}}`) // the user changes her mind
			if requests, _, err := c.ReconcileOnce(); err != nil {
				t.Error(requests, err)
			}
			leaving := 5
			for _, pod := range c.Pods() {
				if pod.DeletionTimestamp == nil {
					leaving--
				}
			}
			if leaving > 1 {
				t.Errorf("%d pods are gone or going, maxUnavailable is 1", leaving)
			}
		})
	})
	t.Run("a creation", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(8, "")
			c.Settle()
			c.Edit(`{"spec":{"replicas":9}}`)
			c.Hold("pods")
			c.FailAfter(fixture.Fail("create pods", fixture.ErrLost))
			c.MustFailReconcile(func(error) bool { return true })
			c.FailAfter(nil)
			c.FailBefore(fixture.Fail("get pods", fixture.ErrLost)) // nor does the API server tell what became of it
			c.MustFailReconcile(func(error) bool { return true })
			c.FailBefore(nil)
			c.Edit(`{"metadata":{"annotations":{"a":"b"}}}`) // an autoscaler is faster than the watch of pods
			if requests, _, err := c.ReconcileOnce(); err != nil {
				t.Error(requests, err)
			}
			if n := len(c.Pods()); n != 9 {
				t.Errorf("%d pods, want 9", n)
			}
			c.Release("pods")
			c.Settle()
			if n := len(c.Pods()); n != 9 {
				t.Errorf("%d pods, want 9", n)
			}
		})
	})
}

// CT-13: a pod is gone whose deletion had no answer, and its watch shows that later. The CloneSet goes on although nothing more
// happens to pods. On a quiet resource the next news is a bookmark, up to a minute later.
func TestLostAnswerAboutAPodThatIsGone(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, "")
		c.Settle()
		first := c.PodNames()[0]
		c.Edit(`{"spec":{"scaleStrategy":{"podsToDelete":["` + first + `"]}}}`)
		c.Hold("pods")
		c.FailAfter(fixture.Fail("delete pods", fixture.ErrLost))
		c.MustFailReconcile(func(error) bool { return true })
		c.FailAfter(nil)
		c.RemovePod(first)
		c.Edit(`{"metadata":{"annotations":{"a":"b"}}}`) // others write meanwhile
		if requests := c.MustReconcile(); slices.Contains(requests, "1 create pods") || len(c.Pods()) != 2 {
			t.Errorf("before the cache shows that the pod is gone: %q", requests)
		}
		c.Release("pods")
		if requests := c.MustReconcile(); !slices.Contains(requests, "1 create pods") {
			t.Errorf("after the cache has shown it: %q", requests)
		}
	})
}
