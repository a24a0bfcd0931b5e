// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// Test tests a kind.
func Test(t *testing.T, k Subject) {
	k.rights = newRights()
	want := k.calm(t)
	if t.Failed() {
		return // everything is compared with it
	}
	scenarios := []struct {
		name string
		test func(*testing.T, *Subject, calm)
	}{
		{"quiet when settled", quiet},
		{"a write whose answer is lost", lostAnswers},
		{"a write that fails", failures},
		{"a write that is refused for an hour", refusedForAnHour},
		{"a write that another writer takes back", contested},
		{"a write in whose place another writer puts another value each time", outwritten},
		{"stale caches", staleCaches},
		{"what it remembers of objects that are gone", forgets},
		{"a panic", panics},
		{"objects of others", strangers},
		{"run and stop", runAndStop},
	}
	k.rights.missed = len(scenarios)
	for _, test := range scenarios {
		t.Run(test.name, func(t *testing.T) {
			k.rights.missed--
			test.test(t, &k, want)
		})
	}
	t.Run("rights", func(t *testing.T) { k.rights.check(t, k.Unasked) })
}

// quiet: nothing that leaves the plan unchanged causes a reconcile, and a restart
// writes nothing.
func quiet(t *testing.T, k *Subject, want calm) {
	k.play(t, func(c *Cluster) {
		stop := c.start()
		c.scenario(name)
		c.Sleep("1m") // what was to be told of what is held up by then is over
		before := c.Reconciles.Count()
		c.ForgetRequests()
		for i := range 10 {
			c.noise(i)
			c.Sleep("10s")
		}
		c.Sleep("1h")
		if requests := c.Sent(); c.Reconciles.Count() != before || len(requests) > 0 {
			t.Errorf("an hour in which nothing happened took %d reconciles and %v", c.Reconciles.Count()-before, requests)
		}
		stop()
		c.ForgetRequests()
		defer c.start()()
		c.settle()
		if requests := c.wrote(); len(requests) > 0 || c.Reconciles.Count() > 2 {
			t.Errorf("a restart took %d reconciles and %v", c.Reconciles.Count(), requests)
		}
		c.expect(name, want)
	})
}

func (c *Cluster) noise(i int) {
	c.T.Helper()
	if c.kind.Noise != nil {
		c.kind.Noise(c, i)
		return
	}
	c.Heartbeat(i)
	claims := c.Kube.CoreV1().PersistentVolumeClaims(fixture.Web.Namespace)
	list, err := claims.List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, claim := range list.Items { // it is bound
		bound := fmt.Sprintf(`{"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"%d"}},"spec":{"volumeName":"pv"}}`, i)
		_, err := claims.Patch(c.T.Context(), claim.Name, types.MergePatchType, []byte(bound), metav1.PatchOptions{})
		c.Must(err)
	}
}

// wrote lists what the controller wrote since ForgetRequests.
func (c *Cluster) wrote() (requests []string) {
	for _, r := range c.Requests(fixture.ControllerUser) {
		if !reads(&r) {
			requests = append(requests, fmt.Sprint(r.String(), " ", r.Name))
		}
	}
	return requests
}

// lostAnswers: a write whose answer is lost was made, and no cache shows it for
// a while. Nothing is done twice.
func lostAnswers(t *testing.T, k *Subject, want calm) {
	for _, write := range k.Writes {
		t.Run(write, func(t *testing.T) {
			k.play(t, func(c *Cluster) {
				lose, happened := failing(write, fixture.ErrLost)
				var lost lostAnswer
				c.fail(func(r fakecluster.Request) error {
					if lost.repeated(&r) && !slices.Contains(k.Repeats, write) {
						t.Errorf("%s %s again, and the controller has not looked whether it was made", r.String(), fixture.NameIn(r))
					}
					return nil
				}, func(r fakecluster.Request) error {
					err := lose(r)
					if err != nil {
						lost.set(&r)
						c.Hold(r.Resource)
						time.AfterFunc(30*time.Second, func() { c.Release(r.Resource) })
					}
					return err
				})
				defer c.start()()
				c.scenario(name)
				if !happened() {
					t.Error("no answer was lost")
				}
				c.Sleep("30s")
				c.settle()
				c.expect(name, want)
				c.expectOnce(want)
			})
		})
	}
}

// lostAnswer is a write whose answer was lost, until a reader looks what has become of it.
type lostAnswer struct {
	lock sync.Mutex
	of   *fakecluster.Request
}

func (l *lostAnswer) set(r *fakecluster.Request) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.of = r
}

// repeated tells whether a request of the controller is the same write once more. One
// that says of which version it is made is a conflict then, and does no harm.
func (l *lostAnswer) repeated(r *fakecluster.Request) bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	switch {
	case l.of == nil || r.User != fixture.ControllerUser || r.Resource != l.of.Resource || fixture.NameIn(*r) != fixture.NameIn(*l.of):
		return false
	case reads(r):
		l.of = nil
		return false
	}
	return r.String() == l.of.String() && !strings.Contains(string(r.Body), `"resourceVersion":`)
}

// failures: a write that was not made is made later. Every other write is lost, and the rest are refused, unless each is to be
// refused in every way.
func failures(t *testing.T, k *Subject, want calm) {
	for i, write := range k.Writes {
		for j, failure := range []struct {
			what string
			err  error
		}{{"lost", fixture.ErrLost}, {"refused", fixture.ErrInternal}} {
			if (i+j)%2 != 0 && !*everyRefusal {
				continue
			}
			t.Run(write+" is "+failure.what, func(t *testing.T) {
				k.play(t, func(c *Cluster) {
					fail, happened := failing(write, failure.err)
					c.fail(fail, nil)
					defer c.start()()
					c.scenario(name)
					if !happened() {
						t.Error("no write failed")
					}
					c.expect(name, want)
					c.expectOnce(want)
				})
			})
		}
	}
}

// steps makes some steps.
func (c *Cluster) steps(n int) {
	c.T.Helper()
	for range n {
		c.step()
	}
}

// staleCaches: a controller that does not see what it has written waits.
func staleCaches(t *testing.T, k *Subject, want calm) {
	for _, resource := range k.Watches {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, filled anew: %v", resource, again), func(t *testing.T) {
				k.play(t, func(c *Cluster) {
					defer c.start()()
					c.stall(resource, again, func() { k.Create(c, name) })
					c.stall(resource, again, func() { c.change(name) })
					c.expect(name, want)
					c.expectOnce(want)
				})
			})
		}
	}
}

// stall keeps the cache of a resource from what happens for ten minutes. If
// again is set it never sees events of that time, but what has become of them.
func (c *Cluster) stall(resource string, again bool, do func()) {
	c.T.Helper()
	c.Hold(resource)
	do()
	if slices.ContainsFunc(c.kind.Writes, func(write string) bool { return strings.HasPrefix(strings.Fields(write)[1], resource) }) {
		c.steps(3)
	} else { // it is not waited for
		c.settle()
	}
	c.ForgetRequests()
	c.Sleep("10m")
	if requests := c.wrote(); len(requests) > 0 && !(len(requests) == 1 && slices.Contains(c.kind.Misses, resource)) {
		c.T.Errorf("writes while the cache of %s is stale: %v", resource, requests)
	}
	if again {
		c.Relist(resource)
	} else {
		c.Release(resource)
	}
	c.settle()
}

// panics: a panic in one object is the failure of that one.
func panics(t *testing.T, k *Subject, want calm) {
	for _, write := range k.Writes {
		t.Run(write, func(t *testing.T) {
			k.play(t, func(c *Cluster) {
				var happened atomic.Bool
				c.fail(func(r fakecluster.Request) error {
					if r.User == fixture.ControllerUser && r.String() == write && strings.HasPrefix(fixture.NameIn(r), "broken") {
						happened.Store(true)
						panic("planted by a test")
					}
					return nil
				}, nil)
				defer c.start()()
				k.Create(c, "broken")
				c.steps(3)
				c.change("broken")
				c.scenario(name)
				c.expect(name, want)
				c.fail(nil, nil)
				c.Sleep("10m")
				c.settle()
				c.expectSettled("broken")
				if failed := len(c.Reconciles.Errors()) > 0; failed != happened.Load() {
					t.Errorf("there was a panic: %v, and a reconcile failed: %v", happened.Load(), failed)
				}
			})
		})
	}
}

// strangers: what another controller owns is neither changed nor deleted. That holds also if it names the object as a
// plain owner, so that the garbage collector deletes it with the object.
func strangers(t *testing.T, k *Subject, want calm) {
	if k.Strangers == nil {
		return
	}
	k.play(t, func(c *Cluster) {
		k.Strangers(c, name)
		theirs := c.Objects()
		defer c.start()()
		k.Create(c, name)
		c.settle()
		c.LendStrangers(name)
		c.settle()
		c.change(name)
		c.settle()
		c.expectSettled(name)
		c.expectOnce(want)
		for _, r := range c.Requests(fixture.ControllerUser) {
			object := fmt.Sprintf("%s %s/%s", r.Resource, r.Namespace, r.Name)
			if !reads(&r) && slices.Contains(theirs, object) {
				t.Errorf("%s %s, which belongs to another user", r.String(), object)
			}
		}
	})
}

// runAndStop: Run ends in good order, at any time.
func runAndStop(t *testing.T, k *Subject, want calm) {
	t.Run("with informers of its own", func(t *testing.T) {
		k.play(t, func(c *Cluster) {
			c.own = true
			stop := c.start()
			c.scenario(name)
			c.expect(name, want)
			stop() // the bubble fails the test if a goroutine is left
		})
	})
	t.Run("before its caches are filled", func(t *testing.T) {
		k.play(t, func(c *Cluster) {
			c.own = true
			c.fail(func(r fakecluster.Request) error {
				if r.User == fixture.ControllerUser {
					return fixture.ErrLost
				}
				return nil
			}, nil)
			controller, err := k.New(c)
			c.Must(err)
			ctx, cancel := context.WithTimeout(c.T.Context(), time.Minute)
			defer cancel()
			if err := controller.run(ctx); err != nil {
				t.Errorf("Run returns %v after an end that was asked for", err)
			}
			controller, err = k.New(c)
			c.Must(err)
			if err := controller.run(c.T.Context()); err == nil || !strings.Contains(err.Error(), "caches are not filled after 2m0s") {
				t.Errorf("Run: %v", err)
			}
		})
	})
	t.Run("while a write is under way", func(t *testing.T) {
		k.play(t, func(c *Cluster) {
			hang := make(chan struct{})
			hangs, happened := failing(k.Writes[0], fixture.ErrInternal)
			c.fail(func(r fakecluster.Request) error {
				if hangs(r) != nil {
					<-hang
				}
				return nil
			}, nil)
			stop := c.start()
			k.Create(c, name)
			for range 10 {
				if !happened() {
					c.step()
				}
			}
			stopped := false
			go func() { stop(); stopped = true }()
			synctest.Wait()
			if stopped || !happened() {
				t.Errorf("Run returned while a write was under way; there was one: %v", happened())
			}
			close(hang)
			synctest.Wait()
			if !stopped {
				t.Error("Run did not return")
			}
		})
	})
}
