// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// leaderElection makes a dead leader be replaced within eight seconds.
var leaderElection = []string{
	"--leader-elect", "--leader-election-lease-duration=8s",
	"--leader-election-renew-deadline=6s", "--leader-election-retry-period=500ms",
}

func leads(m *testbed.Manager) bool {
	metrics, err := m.Get(m.Metrics, "/metrics")
	return err == nil && strings.Contains(metrics, "\nkruise_manager_is_leader 1")
}

// Two managers: the one that leads is killed in the middle of a rollout, and the other one finishes it.
func testTheOtherManagerTakesOver(t *testing.T, b *bed) {
	for _, how := range testbed.Sample([]v1alpha1.CloneSetUpdateStrategyType{inPlace, reCreate}, 2) {
		t.Run(string(how), func(t *testing.T) {
			s := b.cloneSetFixture(t)
			s.run(cloneSet("web", 12, strategy(how, 2)))
			before := s.owned("web")
			first, second := s.twoManagers(how)

			s.expect("web", 10, 12)
			s.edit("web", image("web:2"))
			if !s.killAt(first, 4) {
				s.Errorf("expected the kill in the middle of the rollout, observed that all pods are updated and in service")
			}
			s.AwaitAsking("the second manager leads", func() string {
				if !leads(second) {
					return "it does not"
				}
				return ""
			})
			s.awaitSettled("web")
			s.keptBudget("web")
			s.updatedOnce(before, how)
		})
	}
}

// twoManagers replaces the shared manager by one that leads and one that waits.
func (s *cloneSetFixture) twoManagers(how v1alpha1.CloneSetUpdateStrategyType) (leader, other *testbed.Manager) {
	s.Helper()
	s.Manager.Kill()
	s.Cleanup(s.revive)
	// It has the webhooks' address of the shared manager, to which later flags of the same name win.
	leader = s.Manager.With(leaderElection...)
	other, err := s.NewManager("second-"+strings.ToLower(string(how)), append(leaderElection, "--enable-webhooks=false")...)
	if err != nil {
		s.Fatalf("%v", err)
	}
	for _, p := range []*testbed.Manager{leader, other} {
		s.Cleanup(func() {
			p.Kill()
			if s.Failed() {
				s.Logf("the log of %s:\n%s", p.Name, p.LogTail(s.Namespace))
			}
		})
		if err := p.Start(); err != nil {
			s.Fatalf("%v", err)
		}
		if p == leader {
			s.AwaitAsking("the first manager leads", func() string {
				if !leads(leader) {
					return "it does not"
				}
				return ""
			})
		}
	}
	s.AwaitAsking("the second manager is ready", func() string {
		if _, err := other.Get(other.Health, "/readyz"); err != nil {
			return err.Error()
		}
		return ""
	})
	if leads(other) {
		s.Errorf("expected one leader, observed that the second manager leads too")
	}
	return leader, other
}

// killAt kills a manager when so many pods have been updated. It tells whether that was in the middle of the rollout: on a busy
// machine, the last moments of one are observed late.
func (s *cloneSetFixture) killAt(p *testbed.Manager, threshold int) bool {
	s.Helper()
	s.Await(fmt.Sprintf("%d updated pods", threshold), func() string {
		if n := s.updated("web"); n < threshold {
			return fmt.Sprintf("%d", n)
		}
		return ""
	})
	p.Kill()
	updated, serving, all := s.updated("web"), s.inService("web"), int(s.kind.state(s.set("web")).replicas)
	s.Logf("killed %s: now %d pods are updated, %d of %d are in service", p.Name, updated, serving, all)
	return updated < all || serving < all
}
