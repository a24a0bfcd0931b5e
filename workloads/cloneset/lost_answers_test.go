package cloneset

import "testing"

// A write whose answer is lost may have been made. Until that is known, nothing
// is done, whoever changes the CloneSet in the meantime.
func TestLostAnswers(t *testing.T) {
	t.Run("a deletion", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(5, `{"spec":{"updateStrategy":{"type":"ReCreate","maxUnavailable":1}}}`)
			c.settle()
			first, second := c.podNames()[0], c.podNames()[1]
			c.edit(`{"spec":{"scaleStrategy":{"podsToDelete":["` + first + `"]}}}`)
			c.Hold("pods")
			c.FailAfter(fail("delete pods", errLost))
			c.mustFailPass(func(error) bool { return true })
			c.FailAfter(nil)
			c.edit(`{"spec":{"scaleStrategy":{"podsToDelete":["` + second + `"]}}}`) // the user changes her mind
			if requests, _, err := c.pass(); err != nil {
				t.Error(requests, err)
			}
			leaving := 5
			for _, pod := range c.pods() {
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
			c.settle()
			c.edit(`{"spec":{"replicas":9}}`)
			c.Hold("pods")
			c.FailAfter(fail("create pods", errLost))
			c.mustFailPass(func(error) bool { return true })
			c.FailAfter(nil)
			c.FailBefore(fail("get pods", errLost)) // nor does the API server tell what became of it
			c.mustFailPass(func(error) bool { return true })
			c.FailBefore(nil)
			c.edit(`{"metadata":{"annotations":{"a":"b"}}}`) // an autoscaler is faster than the watch of pods
			if requests, _, err := c.pass(); err != nil {
				t.Error(requests, err)
			}
			if n := len(c.pods()); n != 9 {
				t.Errorf("%d pods, want 9", n)
			}
			c.Release("pods")
			c.settle()
			if n := len(c.pods()); n != 9 {
				t.Errorf("%d pods, want 9", n)
			}
		})
	})
}
