// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// heldUp is what a request says of what holds it up, without the time; empty if it says nothing.
func (s *story) heldUp(name string) string {
	s.T.Helper()
	told := heldup.OfText(s.get(name).Status.Message)
	if told == nil {
		return ""
	}
	return told.Reason + ": " + told.Message
}

// CRR-7: after a minute the message tells what holds a request up. The message keeps its time while that lasts, and costs nothing
// more. At the end it tells nothing of it any more.
func TestHeldUp(t *testing.T) {
	for _, test := range []struct {
		name         string
		begins, ends func(s *story)
		after        time.Duration // how long the request lets the agent take
		want         string
	}{
		{"a container that does not come back", func(s *story) {
			s.node.startup = time.Hour
			s.create("restart", "web-0")
			s.work(5 * time.Second)
		}, func(s *story) { s.work(2 * time.Hour) }, 0, "NotReady: container main: pod web-0: the pod is not ready"},
		{"an agent that stops nothing", func(s *story) {
			s.create("restart", "web-0")
			s.set("restart", v1alpha1.ContainerRecreateRequestRecreating)
		}, func(s *story) { s.work(5 * time.Minute) }, 40 * time.Second, "AgentSilent: node node-1: the agent has not stopped container main"},
		{"a request that comes first", func(s *story) {
			s.create("restart", "web-0")
			s.set("restart", v1alpha1.ContainerRecreateRequestPending)
		}, func(s *story) { s.work(5 * time.Minute) }, 0,
			`RequestAhead: pod web-0: the node agent has another request of the pod to finish first, it runs on node "node-1"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(s *story) {
				s.pod("web-0")
				defer s.manager()()
				test.begins(s)
				s.Sleep(fmt.Sprint(test.after + 30*time.Second))
				if got := s.get("restart").Status.Message; got != "" {
					t.Errorf("before a minute is over: %s", got)
				}
				s.Sleep("31s")
				standing := s.get("restart").Status.Message
				if got := s.heldUp("restart"); got != test.want {
					t.Errorf("after a minute:\n%s\nwant\n%s", got, test.want)
				}
				s.ForgetRequests()
				if s.Sleep("8m"); len(s.Sent()) > 0 {
					t.Errorf("requests while it lasts: %v", s.Sent())
				}
				if now := s.get("restart").Status.Message; now != standing {
					t.Errorf("it said %q, and says %q", standing, now)
				}
				test.ends(s)
				s.Sleep("1s")
				if r := s.get("restart"); r.Status.Phase != v1alpha1.ContainerRecreateRequestCompleted || strings.Contains(r.Status.Message, "held up") {
					t.Errorf("in the end it is %s: %s", r.Status.Phase, r.Status.Message)
				}
			})
		})
	}
}

// set has the agent write a phase, and nothing more.
func (s *story) set(name string, phase v1alpha1.ContainerRecreateRequestPhase) {
	s.T.Helper()
	r := s.get(name)
	r.Status.Phase = phase
	s.node.write(r)
}
