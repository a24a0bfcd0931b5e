// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestStatefulSetInPlaceUpdate(t *testing.T) {
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(10, s.spec(parallelInPlace), s.spec(dataClaims),
		s.spec(`{updateStrategy: {rollingUpdate: {maxUnavailable: "40%"}}}`)))
	before, claims, writes := s.owned("web"), s.Claims.All(), s.Writes()
	s.expect("web", 6, 10)
	s.edit("web", mainImage("web:2"))
	s.awaitSettled("web")
	s.keptBudget("web")
	s.updatedInPlace(before)
	s.startedInOrder(10, 4)
	s.keptClaims(claims)

	// A pod costs the condition that takes it out of service, the new image, and the condition that lets it in again.
	s.wroteToPods(writes, map[string]int{"patch pods/status": 20, "patch pods": 10})
}

// wroteToPods fails unless the manager has written exactly this to pods and claims since it had written what is given first.
func (s *fixture[T]) wroteToPods(before, wanted map[string]int) {
	s.Helper()
	s.AwaitAsking("the manager's writes are logged", func() string {
		written := s.Writes()
		for what, n := range written {
			if written[what] = n - before[what]; written[what] == 0 || !strings.Contains(what, " pods") && !strings.Contains(what, " persistentvolumeclaims") {
				delete(written, what)
			}
			if written[what] > wanted[what] {
				s.Fatalf("writes to pods and claims: expected %v, observed %v", wanted, written)
			}
		}
		return cmp.Diff(wanted, written)
	})
}

// A partition of an unordered update is a number of pods, and the priority says which go first.
func TestStatefulSetUnorderedUpdate(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(5, s.spec(parallelInPlace), s.spec(`{updateStrategy: {rollingUpdate: {
		partition: 3, maxUnavailable: 1, unorderedUpdate: {priorityStrategy: {weightPriority: [
			{weight: 90, matchSelector: {matchLabels: {role: canary}}}, {weight: 10, matchSelector: {matchLabels: {role: standby}}}]}}}}}`)))
	s.Label("web-1", "role", "canary")
	s.Label("web-3", "role", "standby")
	before, done := s.owned("web"), len(s.history.acted())
	s.expect("web", 4, 5)
	s.edit("web", mainImage("web:2"))
	s.awaitStatus("web", "STS-E6: two of five pods are updated", s.updatedAndServing(2))
	s.acted("STS-17", done, "update web-1", "serve web-1", "update web-3", "serve web-3")

	s.edit("web", s.spec(`{updateStrategy: {rollingUpdate: {partition: 2}}}`))
	s.awaitStatus("web", "one more", s.updatedAndServing(3))
	s.edit("web", s.spec(`{updateStrategy: {rollingUpdate: {partition: 0}}}`))
	s.awaitSettled("web")
	s.acted("STS-17", done+4, "update web-4", "serve web-4", "update web-2", "serve web-2", "update web-0", "serve web-0")
	s.keptBudget("web")
	s.updatedInPlace(before)
}

// updatedAndServing tells what is wrong with a status that does not say that all pods are available, and n of them updated.
func (s *statefulSetFixture) updatedAndServing(n int32) func(*v1beta1.StatefulSet) string {
	return func(set *v1beta1.StatefulSet) string {
		status := set.Status
		if status.UpdatedReplicas != n || status.UpdatedReadyReplicas != n || status.AvailableReplicas != *set.Spec.Replicas {
			return fmt.Sprintf("status %+v", status)
		}
		return ""
	}
}

// An image that cannot be pulled stops a rollout at maxUnavailable. A roll-back ends that: no user deletes pods,
// and the pods that serve are not touched.
func TestStatefulSetBadImageIsRolledBack(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		broken     int
		deletes    []string
	}{
		{name: "Parallel, in place", spec: parallelInPlace, broken: 2},
		{name: "OrderedReady, in place", spec: orderedInPlace, broken: 1},
		{name: "OrderedReady, recreated", spec: `{updateStrategy: {rollingUpdate: {podUpdatePolicy: ReCreate}}}`, broken: 1, deletes: []string{"web-3", "web-3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStatefulSetFixture(t)
			s.run(statefulSet(4, s.spec(test.spec)))
			before := s.owned("web")
			s.expect("web", 4-test.broken, 4)
			s.edit("web", mainImage("web:bad"))
			s.awaitStatus("web", "pods that wait for their image", func(set *v1beta1.StatefulSet) string {
				if n := s.waitingForImage(); n != test.broken || int(set.Status.UpdatedReplicas) != n || int(set.Status.AvailableReplicas) != 4-n {
					return fmt.Sprintf("%d pods wait, status %+v", n, set.Status)
				}
				return ""
			})
			s.edit("web", mainImage("web:1"))
			s.awaitSettled("web")
			s.keptBudget("web")
			s.deletedOnly(test.deletes...)
			for i, pod := range s.owned("web") {
				untouched, status := i < 4-test.broken, podstate.ContainerStatus(pod, "main")
				if status.Image != "web:1" || (untouched || test.deletes == nil) && pod.UID != before[i].UID || untouched && status.RestartCount > 0 {
					s.Errorf("expected web:1, and no restart of pods that served, observed %s", podstate.Describe(pod, false))
				}
			}
		})
	}
}

func (s *statefulSetFixture) waitingForImage() (n int) {
	for _, pod := range s.owned("web") {
		if state := podstate.ContainerStatus(pod, "main").State.Waiting; state != nil && state.Reason == "ImagePullBackOff" {
			n++
		}
	}
	return n
}

// keptClaims fails if claims are not those of before.
func (s *statefulSetFixture) keptClaims(before []*corev1.PersistentVolumeClaim) {
	s.Helper()
	for _, old := range before {
		if claim, found := s.Claims.Named(old.Name); !found || claim.UID != old.UID || claim.DeletionTimestamp != nil {
			s.Errorf("expected claim %s with UID %s to stay, observed found=%v: %+v", old.Name, old.UID, found, claim)
		}
	}
}
