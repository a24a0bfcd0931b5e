// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

const name = "web" // of the object in most scenarios

func (k *Subject) key(name string) types.NamespacedName {
	if k.Resource.ClusterScoped {
		return types.NamespacedName{Name: name}
	}
	return types.NamespacedName{Namespace: fixture.Web.Namespace, Name: name}
}

// play plays a scenario on a fake cluster.
func (k *Subject) play(t *testing.T, scenario func(*Cluster)) {
	t.Helper()
	c := &Cluster{kind: k, served: &counter{}}
	fixture.Play(t, k.Resource, func(f *fixture.Cluster) { c.Cluster = f }, func(t *testing.T) {
		t.Helper()
		c.T = t
		c.fail(nil, nil)
		if k.Prepare != nil {
			k.Prepare(c)
		}
		scenario(c)
	}, k.More...)
}

// counter counts requests.
type counter struct {
	lock sync.Mutex
	n    map[string]int
}

func (r *counter) add(request string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.n == nil {
		r.n = map[string]int{}
	}
	r.n[request]++
}

func (r *counter) all() map[string]int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return maps.Clone(r.n)
}

// once returns what creates and deletes: what must be done once, whatever fails.
func (r *counter) once() map[string]int {
	all := r.all()
	maps.DeleteFunc(all, func(request string, _ int) bool {
		return !strings.HasPrefix(request, "create ") && !strings.HasPrefix(request, "delete ")
	})
	return all
}

func reads(r *fakecluster.Request) bool {
	return r.Verb == "get" || r.Verb == "list" || r.Verb == "watch"
}

// tooMany requests in one scenario are those of a controller that loops hot.
const tooMany = 5000

// fail has requests fail before or after they are served, nil for none. A
// controller that loops hot gets no answer for an hour, so that the scenario ends.
func (c *Cluster) fail(before, after func(fakecluster.Request) error) {
	c.FailBefore(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser {
			c.kind.rights.ask(&r)
		}
		if r.User == fixture.ControllerUser && c.requests.Add(1) > tooMany {
			if c.looped.CompareAndSwap(false, true) {
				c.T.Errorf("the controller loops hot: %d requests, the last one %s", tooMany, r.String())
			}
			time.Sleep(time.Hour)
		}
		if before == nil {
			return nil
		}
		return before(r)
	})
	c.FailAfter(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && !reads(&r) {
			c.served.add(r.String())
		}
		if after == nil {
			return nil
		}
		return after(r)
	})
}

// start starts a new controller, with caches that are empty. The function it
// returns stops it.
func (c *Cluster) start() (stop func()) {
	c.T.Helper()
	c.Reconciles, c.shared = &fixture.Reconciles{}, nil
	controller, err := c.kind.New(c)
	c.Must(err)
	c.next, c.memory = controller.Next, controller.memory
	c.kind.rights.state(controller.rules, controller.NamespaceRules)
	informers := c.shared
	return c.Start(func(ctx context.Context) error {
		var running sync.WaitGroup
		defer running.Wait()
		for _, informer := range informers {
			running.Go(func() { informer.RunWithContext(ctx) })
		}
		return controller.run(ctx)
	})
}

// step lets the others act once, and two seconds pass. The controller may act at the same time.
func (c *Cluster) step() {
	c.T.Helper()
	if c.kind.Step != nil {
		c.kind.Step(c)
	} else {
		c.KubeletStep()
		c.CollectGarbage()
	}
	c.Sleep("2s")
}

// settle lets all work until no write has come for 15 seconds.
func (c *Cluster) settle() {
	c.T.Helper()
	for steps, quiet := 0, 0; quiet < 8; steps++ {
		if steps > 300 {
			c.T.Fatalf("it does not settle; the last requests: %v", c.Sent())
		}
		before, version := c.writes(), c.NewestVersion()
		c.step()
		if quiet++; c.writes() != before || c.NewestVersion() != version {
			quiet = 0
		}
	}
	for _, resource := range c.kind.Watches {
		c.Bookmark(resource)
	}
	c.Sleep("1s")
}

// writes counts the writes of all users but kubelets, those too that change nothing.
func (c *Cluster) writes() (n int) {
	for _, r := range c.Requests("") {
		if !reads(&r) {
			n++
		}
	}
	return n
}

// scenario is the life of the object: it is created, and changed.
func (c *Cluster) scenario(name string) {
	c.T.Helper()
	c.kind.Create(c, name)
	c.settle()
	c.change(name)
	c.settle()
}

func (c *Cluster) change(name string) {
	c.T.Helper()
	if c.kind.Change != nil {
		c.kind.Change(c, name)
	}
}

// expect checks that an object has come to where it comes without disturbances,
// and that nothing is left to be done.
func (c *Cluster) expect(name string, want calm) {
	c.T.Helper()
	if diff := cmp.Diff(want.outcome, c.kind.Outcome(c, name)); diff != "" {
		c.T.Errorf("outcome (-without disturbance +with):\n%s", diff)
	}
	c.expectSettled(name)
}

func (c *Cluster) expectSettled(name string) {
	c.T.Helper()
	left, err := c.next(c.kind.key(name))
	c.Must(err)
	if left != "" {
		c.T.Errorf("nothing happens any more, and this is left to do: %s", left)
	}
}

// expectOnce checks that nothing was created or deleted more often than it is
// without disturbances. Some deletions are left to the garbage collector.
func (c *Cluster) expectOnce(want calm) {
	c.T.Helper()
	for request, n := range c.served.once() {
		if n > want.once[request] {
			c.T.Errorf("%s: %d were made, and %d without disturbance", request, n, want.once[request])
		}
	}
}

// calm is how the scenario goes without disturbances.
type calm struct {
	outcome string
	once    map[string]int
}

// calm plays the scenario, and checks that the description of the kind is true.
func (k *Subject) calm(t *testing.T) (is calm) {
	t.Helper()
	k.play(t, func(c *Cluster) {
		defer c.start()()
		c.scenario(name)
		is = calm{outcome: c.kind.Outcome(c, name), once: c.served.once()}
		c.expectSettled(name)
		if diff := cmp.Diff(slices.Sorted(slices.Values(k.Writes)), slices.Sorted(maps.Keys(c.served.all()))); diff != "" {
			c.T.Errorf("writes (-Subject.Writes +made):\n%s", diff)
		}
		if errs := c.Reconciles.Errors(); len(errs) > 0 {
			c.T.Errorf("reconciles failed: %q", errs)
		}
	})
	return is
}

// failing returns a function that fails a request of the controller, once where
// it is to, and whether it has. A dry run is not the request.
func failing(request string, err error) (once func(fakecluster.Request) error, happened func() bool) {
	return fixture.Once(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && r.String() == request && !r.DryRun {
			return err
		}
		return nil
	})
}
