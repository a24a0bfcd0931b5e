// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
)

// crash is how an agent ends: at one of its steps, writes and stops, counted from
// 0, which is made or not. After that nothing that it sends arrives.
type crash struct {
	at   int
	made bool
}

func (c crash) String() string { return fmt.Sprintf("at step %d, made %v", c.at, c.made) }

// crasher ends an agent: nothing that it sends arrives any more.
type crasher struct {
	crash
	lock  sync.Mutex
	steps int
	dead  bool
}

// send tells whether something that the agent sends is lost.
func (c *crasher) send(isStep bool) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if !c.dead && isStep {
		c.steps++
		if c.steps > c.at {
			c.dead = true
			if c.made {
				return nil
			}
		}
	}
	if c.dead {
		return fixture.ErrLost
	}
	return nil
}

// crashing runs an agent that crashes, for a time. It returns false if the
// agent did not come so far.
func (n *node) crashing(how crash, d time.Duration) bool {
	n.Helper()
	n.start()
	c := &crasher{crash: how}
	n.Server.FailBefore(func(r fakecluster.Request) error {
		if r.User != n.User() {
			return nil
		}
		return c.send(r.Verb == "patch")
	})
	n.Server.FailAfter(func(r fakecluster.Request) error {
		if r.User != n.User() {
			return nil
		}
		return c.send(false)
	})
	n.Runtime.FailWith(func(method string) error { return c.send(method == "StopContainer") })
	n.work(d)
	n.StopAgent()
	n.Server.FailBefore(nil)
	n.Server.FailAfter(nil)
	n.Runtime.FailWith(nil)
	return c.dead
}

// An agent that ends before or after any write or stop leaves no request
// unfinished, and stops no container twice.
func TestCrash(t *testing.T) {
	for name, test := range map[string]struct {
		with     []string
		restarts int // of main, by itself, when the request is there
	}{
		"unordered": {}, "ordered": {with: []string{"ordered"}}, "unready": {with: []string{"unready=2"}},
		"forced": {with: []string{"forced"}}, "forced and ordered": {with: []string{"forced", "ordered"}},
		"forced, after a restart": {with: []string{"forced"}, restarts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			for at, crashed := 0, true; crashed; at++ {
				for _, made := range []bool{false, true} {
					for _, waits := range []time.Duration{0, 5 * time.Second} { // until the next agent
						c := crash{at, made}
						agents.Play(t, newNode, func(n *node) {
							n.kubelet.Startup = time.Second
							n.pod("web-0")
							n.create("r", "web-0", test.with...)
							for range test.restarts {
								n.Runtime.End("main-1", 1)
								n.work(time.Second)
							}
							crashed = n.crashing(c, 10*time.Second)
							n.work(waits)
							n.start()
							n.work(20 * time.Second)
							// The next agent does not know who ended a container whose stop was not written down.
							if got := strings.ReplaceAll(showStatus(&n.get("r").Status), " killed", ""); got != "Completed, main Succeeded, side Succeeded" {
								n.Errorf("request r is %q, want it completed", got)
							}
							n.Want("restarts", []string{fmt.Sprint("main ", 1+test.restarts), "side 1"}, n.restarts("web-0"))
							if n.Failed() {
								n.Fatalf("failed with a crash %s", c)
							}
						})
					}
				}
			}
		})
	}
}
