// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// crash is how a manager ends: at one of its writes, counted from 0, which is
// made or not. After that nothing that it sends arrives.
type crash struct {
	at   int
	made bool
}

func (c crash) String() string {
	if c.made {
		return fmt.Sprintf("after write %d", c.at)
	}
	return fmt.Sprintf("before write %d", c.at)
}

// crashing runs a manager that crashes, while the node works for a time. It
// returns false if the manager did not come so far.
func (s *story) crashing(c crash, d time.Duration) bool {
	s.T.Helper()
	var writes atomic.Int32
	var dead atomic.Bool
	isWrite := func(r fakecluster.Request) bool {
		return r.User == fixture.ControllerUser && r.Verb != "get" && r.Verb != "list" && r.Verb != "watch"
	}
	s.FailBefore(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && dead.Load() {
			return fixture.ErrLost
		}
		if isWrite(r) && int(writes.Add(1)) > c.at && !c.made {
			dead.Store(true)
			return fixture.ErrLost
		}
		return nil
	})
	s.FailAfter(func(r fakecluster.Request) error {
		if isWrite(r) && int(writes.Load()) > c.at {
			dead.Store(true)
			return fixture.ErrLost
		}
		return nil
	})
	stop := s.manager()
	s.work(d)
	stop()
	s.FailBefore(nil)
	s.FailAfter(nil)
	return dead.Load()
}

// ended checks that nothing is left of a request that could keep a pod from
// service.
func (s *story) ended(name, pod string) {
	s.T.Helper()
	if r := s.get(name); r != nil && (r.Status.CompletionTime == nil || len(r.Finalizers) > 0 || r.Labels[v1alpha1.ContainerRecreateRequestActiveLabel] != "") {
		s.T.Errorf("request %s is %q, want it to have ended", name, s.state(name))
	}
	if pod != "" {
		s.inService(pod, true)
	}
}

// meanwhile is what happens while no manager runs.
var meanwhile = map[string]func(*story) (pod string){
	"nothing happens":        func(*story) string { return "web-0" },
	"the node goes on":       func(s *story) string { s.work(10 * time.Second); return "web-0" },
	"the deadline passes":    func(s *story) string { s.Sleep("30s"); return "web-0" },
	"the request is deleted": func(s *story) string { s.tryDeleteRequest("restart"); return "web-0" },
	"the pod is deleted":     func(s *story) string { s.DeletePod("web-0"); return "" },
	"the pod is replaced":    func(s *story) string { s.RemovePod("web-0"); s.pod("web-0"); return "web-0" },
	"request and pod go":     func(s *story) string { s.tryDeleteRequest("restart"); s.RemovePod("web-0"); return "" },
}

func (s *story) tryDeleteRequest(name string) {
	s.T.Helper()
	if s.get(name) != nil {
		s.deleteRequest(name)
	}
}

// CRR-4.2: a crash between any two writes never leaves a pod out of service.
func TestCrash(t *testing.T) {
	for name, happens := range meanwhile {
		t.Run(name, func(t *testing.T) {
			for at, crashed := 0, true; crashed; at++ {
				for _, made := range []bool{false, true} {
					play(t, func(s *story) {
						s.pod("web-0")
						s.create("restart", "web-0", unready(2), deadline(20))
						crashed = s.crashing(crash{at, made}, 10*time.Second)
						pod := happens(s)
						defer s.manager()()
						s.work(30 * time.Second)
						s.ended("restart", pod)
						if s.T.Failed() {
							s.T.Fatalf("failed with a crash %s", crash{at, made})
						}
					})
				}
			}
		})
	}
}

// The manager that cleans up after a crash may crash as well.
func TestCrashTwice(t *testing.T) {
	for first, crashed := 0, true; crashed; first++ {
		for second, crashedAgain := 0, true; crashedAgain; second++ {
			for _, made := range []bool{false, true} {
				play(t, func(s *story) {
					s.pod("web-0")
					s.create("restart", "web-0", unready(2))
					crashed = s.crashing(crash{first, true}, 10*time.Second)
					s.tryDeleteRequest("restart")
					crashedAgain = s.crashing(crash{second, made}, 5*time.Second)
					defer s.manager()()
					s.work(10 * time.Second)
					s.must("restart", "gone")
					s.inService("web-0", true)
					if s.T.Failed() {
						s.T.Fatalf("failed with a crash %s, and one %s", crash{first, true}, crash{second, made})
					}
				})
			}
		}
	}
}
