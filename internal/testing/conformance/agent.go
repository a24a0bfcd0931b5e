// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// Agent is that of a node in a story of its package, with something to do.
type Agent struct {
	*testing.T
	API    *fakecluster.Server
	Events *fixture.Recorder
	// User is who the agent is for the API server.
	User string
	// Rules and NamespaceRules are those of the agent's options, as In returns the latter. Unasked is that of a Subject.
	Rules          []rbacv1.PolicyRule
	NamespaceRules map[string][]rbacv1.PolicyRule
	Unasked        map[string]string
	// Start starts the agent. Step has the kubelet act once; nil stands for nothing.
	Start, Step func()
	// Trusted is why the agent trusts what others write in the place of its report; empty if it does not. (CT-15)
	Trusted string
	// Outcome shows what has become of the work, in words that do not depend on the way there.
	Outcome func() string
}

// The longest pause of an agent is a minute, so it makes 60 more tries in an hour than CT-11 says for others.
const (
	agentAnHour = mostAnHour + 60
	agentAtLast = mostAtLast + 20
)

// TestAgent tests an agent whose one write is a patch: refused, without answers, and taken back for an hour. play plays a story in
// virtual time, in which the agent does not run yet. The agent watches a resource. Its requests are those that its rules allow. (CT-11, CT-12, CT-15)
func TestAgent(t *testing.T, write, watches string, play func(t *testing.T, story func(*Agent))) {
	rights, unasked, playUnheard := newRights(), map[string]string(nil), play
	play = func(t *testing.T, story func(*Agent)) {
		playUnheard(t, func(a *Agent) {
			rights.state(a.Rules, a.NamespaceRules)
			unasked = a.Unasked
			story(a)
			for _, request := range a.API.Requests(a.User) {
				rights.ask(&request)
			}
		})
	}
	want := ""
	play(t, func(a *Agent) {
		a.Start()
		a.minutes(15)
		if want = a.Outcome(); a.count(write) == 0 {
			t.Errorf("there is no %s", write)
		}
	})
	for _, r := range allRefusals() {
		t.Run("refused: "+r.String(), func(t *testing.T) {
			play(t, func(a *Agent) { a.refused(write, watches, &r, want) })
		})
	}
	for what, newRival := range map[string]func() rival{"taken back": func() rival { return takesBack }, "outwritten": inventor} {
		t.Run(what, func(t *testing.T) {
			play(t, func(a *Agent) {
				a.contested(write, newRival())
				if what == "taken back" || a.Trusted == "" {
					a.expect(want)
				}
			})
		})
	}
	t.Run("rights", func(t *testing.T) { rights.check(t, unasked) })
}

func (a *Agent) refused(write, watches string, r *refusal, want string) {
	a.Helper()
	first, last, _ := r.of(func(req *fakecluster.Request) bool { return req.User == a.User && req.String() == write })
	a.API.FailBefore(first)
	a.API.FailAfter(last)
	a.API.Lag(watches, r.lag)
	a.Start()
	a.minutes(40)
	before := a.count(write)
	a.minutes(20)
	if n := a.count(write); n == 0 || n > agentAnHour || n-before > agentAtLast {
		a.Errorf("%s: %d requests in an hour, %d of them in its last 20 minutes, want at most %d and %d", write, n, n-before, agentAnHour, agentAtLast)
	}
	var status apierrors.APIStatus
	if events := fmt.Sprint(a.Events.All()); errors.As(r.refuse(0), &status) && !strings.Contains(events, refusalText) {
		a.Errorf("no event says what is refused: %s", events)
	}
	a.API.FailBefore(nil)
	a.API.FailAfter(nil)
	a.minutes(10)
	a.expect(want)
}

// contested: another writer takes back each write for an hour, or puts another value in its place.
func (a *Agent) contested(write string, rival rival) {
	a.Helper()
	kube := fixture.Connect(a.T, a.API, "another", kubernetes.NewForConfig)
	answer, _ := rival.after(a.T, a.API, kube, a.User, write)
	a.API.FailAfter(answer)
	a.Start()
	a.minutes(40)
	before := a.count(write)
	a.minutes(20)
	n, stated := a.count(write), stated(a.T)
	if n > stated || n-before > stated/4 {
		a.Errorf("%s: %d requests in an hour, %d of them in its last 20 minutes; CT-12 says %d and %d at most", write, n, n-before, stated, stated/4)
	}
	if events := fmt.Sprint(a.Events.All()); n >= seldom && !strings.Contains(events, "Warning Contested: ") {
		a.Errorf("%d requests %s, and no event says that another writer takes them back: %s", n, write, events)
	}
	a.Logf("%s: %d requests in an hour, %d of them in its last 20 minutes", write, n, n-before)
	a.API.FailAfter(nil)
	a.minutes(15)
}

func (a *Agent) minutes(n int) {
	for range n {
		if a.Step != nil {
			a.Step()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
	}
}

func (a *Agent) count(write string) int { return a.API.Count(a.User)[write] }

func (a *Agent) expect(want string) {
	a.Helper()
	if diff := cmp.Diff(want, a.Outcome()); diff != "" {
		a.Errorf("outcome (-without disturbance +with):\n%s", diff)
	}
}
