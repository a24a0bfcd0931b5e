// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// updated counts the pods whose template has the image web:2.
func (s *fixture[T]) updated(set string) (n int) {
	for _, pod := range s.owned(set) {
		if pod.Spec.Containers[0].Image == "web:2" {
			n++
		}
	}
	return n
}

// updatedOnce fails if the update from before to now did more than it had to. In place, every pod is the same and its
// container was restarted once. Otherwise every pod was replaced by exactly one other.
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

// updatedInPlace fails if a pod is not the same as before, or its container was not restarted exactly once.
func (s *fixture[T]) updatedInPlace(before []*corev1.Pod) {
	s.Helper()
	s.unmoved(before, "web")
	s.restarted("web", "main", "web:2", 1)
	s.restarted("web", "side", "proxy:1", 0)
	s.deletedOnly()
	s.created(len(before))
}

// deletedOnly fails if other pods than these have been deleted.
func (s *fixture[T]) deletedOnly(wanted ...string) {
	s.Helper()
	deleted := s.history.deleted()
	if fmt.Sprint(deleted) != fmt.Sprint(wanted) {
		s.Errorf("expected these %d pods to be deleted: %v\nobserved these %d: %v", len(wanted), wanted, len(deleted), deleted)
	}
}

// created fails if more or fewer pods have been created in all.
func (s *fixture[T]) created(wanted int) {
	s.Helper()
	if n := len(podhistory.Tracks(s.history.Changes(), 0)); n != wanted {
		s.Errorf("expected %d pods to be created in all, observed %d", wanted, n)
	}
}
