// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
)

// unmoved fails if a pod is not the one it was: another object, on another node, or with another address. It also fails
// if there are others beside them than the added ones.
func (s *fixture[T]) unmoved(before []*corev1.Pod, set string, added ...string) {
	s.Helper()
	now := map[string]*corev1.Pod{}
	for _, pod := range s.owned(set) {
		now[pod.Name] = pod
	}
	wanted, found := append(testbed.Names(before), added...), testbed.Names(s.owned(set))
	slices.Sort(wanted)
	if !slices.Equal(wanted, found) {
		s.Errorf("expected the %d pods %v, observed %v", len(wanted), wanted, found)
	}
	for _, old := range before {
		pod := now[old.Name]
		if pod == nil {
			s.Errorf("expected pod %s to stay, observed that it is gone", old.Name)
			continue
		}
		if places := podhistory.Tracks(s.history.Changes(), 0)[old.UID].Places(); pod.UID != old.UID || len(places) != 1 {
			s.Errorf("pod %s: expected UID %s in one place all the time, observed %s in %q", pod.Name, old.UID, pod.UID, places)
		}
	}
}

// restarted fails if a container of the pods has another image or has been restarted more or less often.
func (s *fixture[T]) restarted(set, container, image string, restarts int32) {
	s.Helper()
	for _, pod := range s.owned(set) {
		status := podstate.ContainerStatus(pod, container)
		if status.Image != image || status.RestartCount != restarts {
			s.Errorf("pod %s, container %s: expected %s and %d restarts, observed %s and %d", pod.Name, container,
				image, restarts, status.Image, status.RestartCount)
		}
	}
}

func TestInPlaceUpdate(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 5, strategy(inPlace, 2)))
	before := s.owned("web")
	s.expect("web", 3, 5)
	s.edit("web", image("web:2"))
	s.awaitSettled("web")
	s.keptBudget("web")
	s.unmoved(before, "web")
	s.restarted("web", "main", "web:2", 1)
	s.restarted("web", "side", "proxy:1", 0)
}
