// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

func always(error) bool { return true }

// TestLostAnswers: a write whose answer is lost may have been made. Until that
// is known, nothing is done, whatever changes the StatefulSet in the meantime.
func TestLostAnswers(t *testing.T) {
	t.Run("STS-11, a deletion: one at a time", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(5, "")
			c.Settle()
			c.Edit(`{"spec":{"replicas":4}}`)
			c.Hold("pods")
			c.FailAfter(fixture.Fail("delete pods", fixture.ErrLost))
			c.MustFailReconcile(always)
			c.FailAfter(nil)
			c.Edit(`{"spec":{"replicas":5,"reserveOrdinals":[0]}}`) // the user changes her mind
			for range 3 {
				if requests, _, err := c.ReconcileOnce(); err != nil {
					t.Error(requests, err)
				}
			}
			want := []string{"web-0 nginx:1", "web-1 nginx:1", "web-2 nginx:1", "web-3 nginx:1", "web-4 nginx:1 terminating"}
			if diff := cmp.Diff(want, c.images()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			c.Release("pods")
			c.Settle()
			c.whole()
		})
	})
	t.Run("STS-18, an update: one at a time", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(5, withParallel)
			c.Settle()
			c.SetImage("nginx:2")
			c.Hold("pods")
			c.FailAfter(fixture.Fail("patch pods", fixture.ErrLost))
			for range 3 {
				c.MustFailReconcile(always)
			}
			c.FailAfter(nil)
			c.Edit(`{"spec":{"updateStrategy":{"rollingUpdate":{"unorderedUpdate":{"priorityStrategy":{"orderPriority":[{"orderedKey":"x"}]}}}}}}`)
			for range 3 {
				_, _, _ = c.ReconcileOnce()
			}
			c.Release("pods")
			updated := 0
			for _, pod := range c.Pods() {
				if pod.Spec.Containers[0].Image == "nginx:2" {
					updated++
				}
			}
			if updated > 1 {
				t.Errorf("%d pods are updated, maxUnavailable is 1", updated)
			}
			c.Settle()
			c.whole()
		})
	})
	t.Run("a creation is found later", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(1, withClaims)
			c.FailAfter(fixture.Fail("create pods", fixture.ErrLost))
			c.FailBefore(fixture.Fail("get pods", fixture.ErrLost)) // nor does the API server tell what became of it
			c.Hold("pods")
			c.MustFailReconcile(always)
			if _, _, err := c.ReconcileOnce(); !errors.Is(err, fixture.ErrLost) {
				t.Errorf("error %v, want the lost answer", err)
			}
			c.FailAfter(nil)
			c.FailBefore(nil)
			for _, want := range [][]string{{"1 get pods"}, {}} { // found, and then waited for
				if diff := cmp.Diff(want, c.MustReconcile()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			}
			c.Release("pods")
			c.Settle()
			c.whole()
		})
	})
	t.Run("an adoption of a revision is made once", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(3, withParallel)
			c.Settle()
			c.Orphan()
			c.MustReconcile()
			c.create(3, withParallel)
			once, happened := fixture.Once(fixture.Fail("patch controllerrevisions", fixture.ErrLost))
			c.FailAfter(once)
			c.Hold("controllerrevisions")
			for range 5 {
				if _, _, _ = c.ReconcileOnce(); len(c.Pods()) > 3 {
					t.Errorf("%d pods, want 3", len(c.Pods()))
				}
			}
			if !happened() {
				t.Error("no answer was lost")
			}
			c.Release("controllerrevisions")
			c.SettleWith(func() { c.CollectGarbage() })
			c.whole()
			if got := c.Conditions(); len(got) > 0 {
				t.Errorf("conditions %q", got)
			}
		})
	})
}
