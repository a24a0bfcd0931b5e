package scene

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/synctest"
	"time"
)

// Sent lists what the controller has sent since ForgetRequests, but not what
// its informers did, as "n verb resource".
func (c *Cluster) Sent() []string {
	return lines(c.sent())
}

func (c *Cluster) sent() map[string]int {
	count := c.Count(ControllerUser)
	maps.DeleteFunc(count, func(request string, _ int) bool {
		return strings.HasPrefix(request, "list ") || strings.HasPrefix(request, "watch ")
	})
	return count
}

func lines(count map[string]int) []string {
	out := []string{}
	for _, request := range slices.Sorted(maps.Keys(count)) {
		out = append(out, fmt.Sprint(count[request], " ", request))
	}
	return out
}

// Pass makes one pass, and returns the requests it cost.
func (c *Cluster) Pass() (requests []string, after time.Duration, err error) {
	c.T.Helper()
	synctest.Wait()
	c.ForgetRequests()
	after, err = c.Reconcile(c.T.Context(), Web)
	requests = c.Sent()
	synctest.Wait()
	return requests, after, err
}

// MustPass is Pass where an error ends the test.
func (c *Cluster) MustPass() []string {
	c.T.Helper()
	requests, _, err := c.Pass()
	c.Must(err)
	return requests
}

// MustFailPass makes a pass, which must fail with an error of a kind. It
// returns the requests it cost.
func (c *Cluster) MustFailPass(is func(error) bool) []string {
	c.T.Helper()
	requests, _, err := c.Pass()
	if !is(FirstStatus(err)) {
		c.T.Errorf("error %v is not the one wanted", err)
	}
	return requests
}

// Settle has kubelet and controller act in turns until both have nothing to
// do, and returns all requests it took.
func (c *Cluster) Settle() []string {
	c.T.Helper()
	return c.settle(c.KubeletStep)
}

// SettleWith is Settle with another part of the cluster that acts beside the
// kubelet, such as the garbage collector.
func (c *Cluster) SettleWith(also func()) []string {
	c.T.Helper()
	return c.settle(func() { c.KubeletStep(); also(); synctest.Wait() })
}

func (c *Cluster) settle(others func()) []string {
	c.T.Helper()
	total := map[string]int{}
	for quiet, steps := 0, 0; quiet < 2; steps++ {
		if steps > 200 {
			c.T.Fatalf("does not come to rest, the last requests are %v", c.Sent())
		}
		others()
		c.ForgetRequests()
		after, err := c.Reconcile(c.T.Context(), Web)
		c.Must(err)
		quiet++
		for request, n := range c.sent() {
			total[request] += n
			quiet = 0
		}
		time.Sleep(after)
	}
	return lines(total)
}

// KubeletStep has the kubelets of all pods make one step.
func (c *Cluster) KubeletStep() {
	c.T.Helper()
	c.Must(c.Kubelet.SyncAll(c.T.Context(), Web.Namespace))
	synctest.Wait()
}

// Relist makes the informer of a resource forget what it has not seen yet.
func (c *Cluster) Relist(resource string) {
	c.T.Helper()
	c.Compact(resource)
	c.Drop(resource)
	c.Release(resource)
	c.Sleep("2m")
}
