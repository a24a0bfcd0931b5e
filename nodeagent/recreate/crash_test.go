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

// crashing runs an agent for a time. It crashes at one of its steps, writes and stops, counted from 0, which is made or not: after that nothing that it
// sends arrives. The result is false if the agent did not come so far.
func (n *node) crashing(at int, made bool, d time.Duration) (dead bool) {
	n.Helper()
	n.start()
	var lock sync.Mutex
	send := func(isStep bool) error {
		lock.Lock()
		defer lock.Unlock()
		switch {
		case dead:
			return fixture.ErrLost
		case !isStep:
			return nil
		}
		if at--; at >= 0 {
			return nil
		}
		if dead = true; made {
			return nil
		}
		return fixture.ErrLost
	}
	n.FailBefore(func(r fakecluster.Request) error {
		if r.User != n.User() {
			return nil
		}
		return send(r.Verb == "patch")
	})
	n.FailAfter(func(r fakecluster.Request) error {
		if r.User != n.User() {
			return nil
		}
		return send(false)
	})
	n.Runtime.FailWith(func(method string) error { return send(method == "StopContainer") })
	n.work(d)
	n.StopAgent()
	n.FailBefore(nil)
	n.FailAfter(nil)
	n.Runtime.FailWith(nil)
	return dead
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
						agents.Play(t, newNode, func(n *node) {
							n.kubelet.Startup = time.Second
							n.pod("web-0")
							n.create("r", "web-0", test.with...)
							for range test.restarts {
								n.Runtime.End("main-1", 1)
								n.work(time.Second)
							}
							crashed = n.crashing(at, made, 10*time.Second)
							n.work(waits)
							n.start()
							n.work(20 * time.Second)
							// The next agent does not know who ended a container whose stop was not written down.
							if got := strings.ReplaceAll(showStatus(&n.get("r").Status), " killed", ""); got != "Completed, main Succeeded, side Succeeded" {
								n.Errorf("request r is %q, want it completed", got)
							}
							n.Want("restarts", []string{fmt.Sprint("main ", 1+test.restarts), "side 1"}, n.restarts("web-0"))
							if n.Failed() {
								n.Fatalf("failed with a crash at step %d, made %v", at, made)
							}
						})
					}
				}
			}
		})
	}
}
