package scene

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/podwright/podwright/internal/apitest"
)

// disturb does something at random that networks, nodes and users do to a
// cluster, and returns what. Calm ends what lasts.
func (c *Cluster) disturb(r *rand.Rand) string {
	c.T.Helper()
	resources := c.resources()
	resource := resources[r.IntN(len(resources))]
	pod := ""
	if names := c.PodNames(); len(names) > 0 {
		pod = names[r.IntN(len(names))]
	}
	switch what := r.IntN(9); {
	case what == 0:
		c.Hold(resource)
		return "the watch of " + resource + " stalls"
	case what == 1:
		c.Release(resource)
		return "the watch of " + resource + " goes on"
	case what == 2:
		c.Drop(resource)
		return "the watch of " + resource + " breaks"
	case what == 3:
		c.Relist(resource)
		return "the cache of " + resource + " is filled anew"
	case what == 4:
		c.FailBefore(sometimes(r.Uint64()))
		return "requests fail"
	case what == 5:
		c.FailAfter(sometimes(r.Uint64()))
		return "answers are lost"
	case what == 6:
		c.FailBefore(nil)
		c.FailAfter(nil)
		return "requests succeed"
	case pod == "":
		return "nothing"
	case what == 7:
		c.DeletePod(pod)
		return "pod " + pod + " is deleted"
	}
	c.PatchPod(pod, `{"status":{"phase":"Failed"}}`, "status")
	return "pod " + pod + " fails"
}

// sometimes fails a third of the controller's writes.
func sometimes(seed uint64) func(apitest.Request) error {
	var lock sync.Mutex
	r := rand.New(rand.NewPCG(seed, 0))
	return func(request apitest.Request) error {
		if request.User != ControllerUser || request.Verb == "list" || request.Verb == "watch" {
			return nil
		}
		lock.Lock()
		defer lock.Unlock()
		switch r.IntN(6) {
		case 0:
			return ErrLost
		case 1:
			return ErrInternal
		}
		return nil
	}
}

// Calm ends all disturbances, and waits for the longest back-off.
func (c *Cluster) Calm() {
	c.T.Helper()
	c.FailBefore(nil)
	c.FailAfter(nil)
	for _, resource := range c.resources() {
		c.Release(resource)
	}
	c.Sleep("10m")
}

// resources are those that the informers watch.
func (c *Cluster) resources() []string {
	return []string{"pods", "persistentvolumeclaims", "controllerrevisions", c.workload.Name}
}

// Simulate plays a story at random, which the seed determines: changes of a user
// amid disturbances. It returns what happened, to be shown where a test fails.
func (c *Cluster) Simulate(seed uint64, steps int, changes []func(*rand.Rand) string) (happened []string) {
	c.T.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	for range steps {
		what := ""
		if r.IntN(3) == 0 {
			what = changes[r.IntN(len(changes))](r)
			c.Edit(what)
		} else {
			what = c.disturb(r)
		}
		happened = append(happened, fmt.Sprint(time.Now().Format(time.TimeOnly), " ", what))
		for range r.IntN(4) {
			c.KubeletStep()
			c.CollectGarbage()
			c.Sleep(fmt.Sprint(r.IntN(3000), "ms"))
		}
	}
	c.Calm()
	return happened
}
