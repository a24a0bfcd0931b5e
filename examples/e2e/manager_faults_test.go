// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/testbed"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func testManagerIsKilledInMidRollout(t *testing.T, b *bed) {
	for _, how := range []v1alpha1.CloneSetUpdateStrategyType{inPlace, reCreate} {
		t.Run(string(how), func(t *testing.T) {
			s := b.cloneSetFixture(t)
			s.run(cloneSet("web", 20, strategy(how, 3), claimTemplate("data")))
			before := s.owned("web")
			s.expect("web", 17, 20)
			s.edit("web", image("web:2"))
			s.killManagerAt(moments(t, []int{1, 4, 7, 10, 13, 16}))
			s.awaitSettled("web")
			s.keptBudget("web")
			s.updatedOnce(before, how)
			var claims []string
			for _, pod := range s.owned("web") {
				claims = append(claims, claimOf(pod))
			}
			s.awaitClaims("CS-24: a claim for every pod, and none without", claims)
		})
	}
}

// moment is when a manager is killed: after so many pods have been updated and so many more changes of pods have been seen,
// some time later. A change is seen a millisecond after it was written, so without a delay the next write is still under way.
type moment struct {
	updated, changes int
	after, dead      time.Duration
}

// moments makes moments of thresholds: each a little later, by chance. The seed is logged.
func moments(t *testing.T, thresholds []int) []moment {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed of the moments: %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var all []moment
	for i, threshold := range thresholds {
		m := moment{updated: threshold + random.IntN(2), dead: time.Duration(random.IntN(500)) * time.Millisecond}
		if i%2 == 0 {
			m.changes = 1 + random.IntN(8)
		} else {
			m.after = time.Duration(random.IntN(200)) * time.Millisecond
		}
		all = append(all, m)
	}
	return all
}

// killManagerAt kills the manager at each moment, and starts it again. It fails unless half of the kills at least were in
// the middle of the rollout: on a busy machine, the last moments of a rollout are observed late.
func (s *fixture[T]) killManagerAt(moments []moment) {
	s.Helper()
	s.Cleanup(s.revive)
	inTheMiddle := 0
	defer func() {
		if 2*inTheMiddle < len(moments) {
			s.Errorf("expected %d kills in the middle of the rollout, observed that %d were", len(moments), inTheMiddle)
		}
	}()
	for _, m := range moments {
		if s.killAt(s.Manager, m) {
			inTheMiddle++
		}
		time.Sleep(m.dead)
		if err := s.Manager.Start(); err != nil {
			s.Fatalf("start the manager again: %v", err)
		}
	}
}

// killAt kills a manager at a moment. It tells whether that was in the middle of the rollout.
func (s *fixture[T]) killAt(p *testbed.Manager, m moment) bool {
	s.Helper()
	s.Await(fmt.Sprintf("%d updated pods", m.updated), func() string {
		if n := s.updated("web"); n < m.updated {
			return fmt.Sprintf("%d", n)
		}
		return ""
	})
	seen := len(s.history.lines())
	s.Await(fmt.Sprintf("%d more changes", m.changes), func() string {
		if n := len(s.history.lines()) - seen; n < m.changes {
			return fmt.Sprintf("%d", n)
		}
		return ""
	})
	time.Sleep(m.after) // not to wait for something, but to strike at any moment
	p.Kill()
	updated, serving, all := s.updated("web"), s.inService("web"), int(s.kind.state(s.set("web")).replicas)
	s.Logf("killed %s when %d pods were updated, %d changes and %v later: now %d are, %d of %d pods in service",
		p.Name, m.updated, m.changes, m.after, updated, serving, all)
	return updated < all || serving < all
}

// updated counts the pods whose template has the image web:2.
func (s *fixture[T]) updated(set string) (n int) {
	for _, pod := range s.owned(set) {
		if pod.Spec.Containers[0].Image == "web:2" {
			n++
		}
	}
	return n
}

// updatedOnce fails where the update from before to now did more than it had to: in place, every pod is the same and its
// container was restarted once; otherwise every pod was replaced by exactly one other.
func (s *cloneSetFixture) updatedOnce(before []*corev1.Pod, how v1alpha1.CloneSetUpdateStrategyType) {
	s.Helper()
	if how == inPlace {
		s.updatedInPlace(before)
		return
	}
	if n := s.updated("web"); n != len(before) {
		s.Errorf("expected %d pods of web:2, observed %d", len(before), n)
	}
	s.deletedOnly(testbed.Names(before)...)
	s.created(2 * len(before))
}

// updatedInPlace fails where a pod is not the same as before, or its container was not restarted exactly once.
func (s *fixture[T]) updatedInPlace(before []*corev1.Pod) {
	s.Helper()
	s.unmoved(before, "web")
	s.restarted("web", "main", "web:2", 1)
	s.restarted("web", "side", "proxy:1", 0)
	s.deletedOnly()
	s.created(len(before))
}

// deletedOnly fails where other pods than these have been deleted.
func (s *fixture[T]) deletedOnly(wanted ...string) {
	s.Helper()
	deleted := s.history.deleted()
	if fmt.Sprint(deleted) != fmt.Sprint(wanted) {
		s.Errorf("expected these %d pods to be deleted: %v\nobserved these %d: %v", len(wanted), wanted, len(deleted), deleted)
	}
}

// created fails where more or fewer pods have been created in all.
func (s *fixture[T]) created(wanted int) {
	s.Helper()
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	if n := len(s.history.pods); n != wanted {
		s.Errorf("expected %d pods to be created in all, observed %d", wanted, n)
	}
}
