// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

func cacheKey(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: fixture.Web.Namespace, Name: name}
}

// sent checks what the manager has sent since the last time.
func (s *story) sent(want ...string) {
	s.T.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, s.Sent()); diff != "" {
		s.T.Errorf("requests (-want +got):\n%s", diff)
	}
	s.ForgetRequests()
}

// A request costs the manager two writes: what the kubelet said of the new
// container, and the end. If the container takes a while to be ready, that is
// one more.
func TestLife(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0")
		s.work(10 * time.Second)
		s.must("restart", "Completed, main Succeeded")
		s.inService("web-0", true)
		s.sent("2 patch containerrecreaterequests")
	})
}

func TestLifeOfAContainerThatTakesAWhile(t *testing.T) {
	play(t, func(s *story) {
		s.node.startup = 3 * time.Second
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0", ttl(60))
		s.work(10 * time.Second)
		s.must("restart", "Completed, main Succeeded")
		s.sent("3 patch containerrecreaterequests")

		s.work(time.Minute)
		s.must("restart", "gone")
		s.sent("1 delete containerrecreaterequests")
	})
}

// Out of service: finalizer, condition and time before, condition and the rest
// after.
func TestLifeOutOfService(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0", unready(5), containers("main", "side"))
		s.work(time.Second)
		s.inService("web-0", false)
		s.must("restart", "Recreating, active, held")
		s.sent("2 patch containerrecreaterequests", "1 patch pods/status")

		s.work(3 * time.Second)
		s.must("restart", "Recreating, active, held") // nothing is stopped yet
		s.work(6 * time.Second)
		s.must("restart", "Completed, main Succeeded, side Succeeded")
		s.inService("web-0", true)
		s.sent("3 patch containerrecreaterequests", "1 patch pods/status")
	})
}

// PR-E1: a pod without the gate stays in service, and its
// containers are stopped after the same time.
func TestLifeWithoutTheGate(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0", ungated)
		defer s.manager()()
		s.create("restart", "web-0", unready(5))
		s.work(4 * time.Second)
		s.inService("web-0", true)
		s.must("restart", "Recreating, active")
		s.work(6 * time.Second)
		s.must("restart", "Completed, main Succeeded")
		s.sent("3 patch containerrecreaterequests")
	})
}

// CRR-5.2: requests for one pod come one after the other, and each ends. The
// pod is back in service when both are done (PR-E2).
func TestTwoRequestsForOnePod(t *testing.T) {
	play(t, func(s *story) {
		s.node.startup = 2 * time.Second
		s.pod("web-0")
		defer s.manager()()
		s.create("first", "web-0", unready(3))
		s.Sleep("1s")
		s.create("second", "web-0", unready(3), containers("side"))
		s.work(2 * time.Second)
		s.must("first", "Recreating, active, held")
		s.must("second", "Pending, active")
		s.work(2 * time.Minute)
		s.must("first", "Completed, main Succeeded")
		s.must("second", "Completed, side Succeeded")
		s.inService("web-0", true)
	})
}

// The same containers twice: what the first request has restarted need not be
// stopped again.
func TestTwoRequestsForOneContainer(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		defer s.manager()()
		s.create("first", "web-0", ttl(5))
		s.create("second", "web-0", unready(3), ttl(5))
		s.work(time.Minute)
		s.must("first", "gone")
		s.must("second", "gone")
		s.inService("web-0", true)
		if restarts := s.getPod("web-0").Status.ContainerStatuses[0].RestartCount; restarts != 1 {
			t.Errorf("restarted %d times, want once", restarts)
		}
	})
}

// CRR-M3.
func TestSilentAgent(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0", unready(0), ttl(30))
		s.Sleep("59s")
		s.must("restart", ", active")
		s.sent()
		s.Sleep("2s")
		s.must("restart", "Completed: daemon has not responded for a long time")
		s.sent("1 patch containerrecreaterequests", "1 patch containerrecreaterequests/status")
		s.Sleep("31s")
		s.must("restart", "gone")
		s.sent("1 delete containerrecreaterequests")
	})
}

// CRR-M3: a request that waits for another one has been answered.
func TestAnsweredInTime(t *testing.T) {
	play(t, func(s *story) {
		s.node.broken = true
		s.pod("web-0")
		defer s.manager()()
		s.create("first", "web-0", deadline(300))
		s.Sleep("1s")
		s.create("second", "web-0", containers("side"))
		s.work(5 * time.Minute)
		s.must("first", "Completed, main Failed: recreating has exceeded the activeDeadlineSeconds")
		s.node.broken = false
		s.work(10 * time.Second)
		s.must("second", "Completed, side Succeeded")
	})
}

// CRR-M4, and what becomes of the pod: it comes back into service.
func TestDeadline(t *testing.T) {
	play(t, func(s *story) {
		s.node.broken = true
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0", unready(2), deadline(20))
		s.work(19 * time.Second)
		s.must("restart", "Recreating, main Recreating, active, held")
		s.inService("web-0", false)
		s.ForgetRequests()
		s.work(2 * time.Second)
		s.must("restart", "Completed, main Failed: recreating has exceeded the activeDeadlineSeconds")
		s.sent("1 patch containerrecreaterequests", "1 patch containerrecreaterequests/status", "1 patch pods/status")
		s.node.broken = false
		s.inService("web-0", true)
	})
}

// CRR-M3, CRR-M4, CRR-M1.4: whatever the clock of the manager says, the same happens at the same time.
func TestSkewedManager(t *testing.T) {
	for name, happens := range map[string]func(*story){
		"CRR-M3: a silent agent": func(s *story) {
			s.create("restart", "web-0")
			s.Sleep("59s")
			s.must("restart", ", active")
			s.Sleep("2s")
			s.must("restart", "Completed: daemon has not responded for a long time")
		},
		"CRR-M4: the deadline": func(s *story) {
			s.node.broken = true
			s.create("restart", "web-0", deadline(20))
			s.work(19 * time.Second)
			s.must("restart", "Recreating, main Recreating, active")
			s.work(2 * time.Second)
			s.must("restart", "Completed, main Failed: recreating has exceeded the activeDeadlineSeconds")
		},
		"CRR-M1.4: the time to live": func(s *story) {
			s.create("restart", "web-0", ttl(30))
			s.work(20 * time.Second)
			s.must("restart", "Completed, main Succeeded")
			s.work(20 * time.Second)
			s.must("restart", "gone")
		},
	} {
		for _, skew := range []time.Duration{-10 * time.Minute, time.Minute, 10 * time.Minute} {
			t.Run(name+", skew "+skew.String(), func(t *testing.T) {
				play(t, func(s *story) {
					s.skew = skew
					s.pod("web-0")
					defer s.manager()()
					happens(s)
				})
			})
		}
	}
}

// CRR-M2.
func TestPodGone(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0", unready(60))
		s.work(2 * time.Second)
		s.ForgetRequests()
		s.DeletePod("web-0")
		s.must("restart", "Completed: pod has gone")
		s.sent("1 patch containerrecreaterequests", "1 patch containerrecreaterequests/status")
	})
}

// CRR-M2: another pod has taken the name before the manager looked.
func TestPodReplaced(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		s.create("restart", "web-0", unready(60))
		s.RemovePod("web-0")
		s.pod("web-0")
		defer s.manager()()
		s.Sleep("1s")
		s.must("restart", "Completed: pod has gone")
		s.inService("web-0", true)
		s.sent("1 get pods", "1 patch containerrecreaterequests", "1 patch containerrecreaterequests/status")
	})
}

// A request that is deleted puts its pod back before it goes.
func TestDeletedWhileOutOfService(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0", unready(60))
		s.work(2 * time.Second)
		s.inService("web-0", false)
		s.ForgetRequests()
		s.deleteRequest("restart")
		s.must("restart", "gone")
		s.inService("web-0", true)
		s.sent("1 patch containerrecreaterequests", "1 patch pods/status")
	})
}
