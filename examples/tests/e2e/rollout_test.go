// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// awaitUpdated waits until exactly n pods are updated, and all are in service.
func (s *cloneSetFixture) awaitUpdated(rule, name string, n int32) {
	s.Helper()
	s.awaitStatus(name, fmt.Sprintf("%s: %d updated pods", rule, n), func(set *v1alpha1.CloneSet) string {
		wrong := s.unsettled(set)
		if wrong == "" && set.Status.UpdatedReplicas != n {
			wrong = fmt.Sprintf("status %+v", set.Status)
		}
		return wrong
	})
	if updated := int32(s.updated(name)); updated != n {
		s.Errorf("%s: the status says that %d pods are updated, observed %d", rule, n, updated)
	}
}

func TestPartition(t *testing.T) {
	for _, how := range []v1alpha1.CloneSetUpdateStrategyType{inPlace, reCreate} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			s := newCloneSetFixture(t)
			s.run(cloneSet("web", 5, strategy(how, 2), partition("50%")))
			before, old := s.owned("web"), s.set("web").Status.UpdateRevision
			s.expect("web", 3, 5)
			s.edit("web", image("web:2"))
			s.awaitUpdated("CS-5: 50% of 5 stay", "web", 2)
			status := s.set("web").Status
			if status.CurrentRevision != old || status.UpdateRevision == old || status.ExpectedUpdatedReplicas != 2 ||
				status.UpdatedReadyReplicas != 2 || status.LabelSelector != "app=web" {
				s.Errorf("expected the old revision %s as the current one and 2 expected, updated and ready pods, observed %+v", old, status)
			}
			s.edit("web", partition("4"))
			s.awaitUpdated("CS-E6: a raised partition rolls nothing back", "web", 2)
			s.keptBudget("web")
			s.edit("web", replicas(6))
			s.awaitUpdated("CS-E7: a new pod fills up the old share", "web", 2)
			s.expect("web", 4, 6)
			s.edit("web", partition("0"))
			s.awaitUpdated("without partition", "web", 6)
			s.keptBudget("web")
			if status := s.set("web").Status; status.CurrentRevision != status.UpdateRevision {
				s.Errorf("expected one revision at the end, observed %+v", status)
			}
			if how == reCreate {
				return
			}
			s.deletedOnly()
			s.created(len(before) + 1)
		})
	}
}

func TestRecreateUpdate(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 5, strategy(reCreate, 2)))
	before := s.owned("web")
	s.expect("web", 3, 5)
	s.edit("web", image("web:2"))
	s.awaitSettled("web")
	s.keptBudget("web")
	s.updatedOnce(before, reCreate)
}

// What cannot be updated in place is recreated.
func TestInPlaceIfPossibleRecreates(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 3, strategy(inPlace, 1)))
	before := s.owned("web")
	s.expect("web", 2, 3)
	s.edit("web", image("web:2"), func(set *v1alpha1.CloneSet) {
		set.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MODE", Value: "fast"}}
	})
	s.awaitSettled("web")
	s.keptBudget("web")
	s.updatedOnce(before, reCreate)
}

func TestSurge(t *testing.T) {
	for _, how := range []v1alpha1.CloneSetUpdateStrategyType{inPlace, reCreate} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			s := newCloneSetFixture(t)
			s.run(cloneSet("web", 4, strategy(how, 0), func(set *v1alpha1.CloneSet) {
				set.Spec.UpdateStrategy.MaxSurge = new(intstr.FromInt32(1))
			}))
			s.expect("web", 4, 5)
			s.edit("web", image("web:2"))
			s.awaitSettled("web")
			s.keptBudget("web") // CS-E4: no pod is missed
			if n := s.updated("web"); n != 4 {
				s.Errorf("CS-E4: expected 4 updated pods, observed %d", n)
			}
		})
	}
}

// An image that cannot be pulled stops a rollout at maxUnavailable, and the next one gets over it.
func TestBadImageIsContained(t *testing.T) {
	for _, how := range []v1alpha1.CloneSetUpdateStrategyType{inPlace, reCreate} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			s := newCloneSetFixture(t)
			s.run(cloneSet("web", 6, strategy(how, 2)))
			s.expect("web", 4, 6)
			s.edit("web", image("web:bad"))
			s.awaitStatus("web", "two pods that wait for their image", func(set *v1alpha1.CloneSet) string {
				waiting := 0
				for _, pod := range s.owned("web") {
					if state := podstate.ContainerStatus(pod, "main").State.Waiting; state != nil && state.Reason == "ImagePullBackOff" {
						waiting++
					}
				}
				if waiting != 2 || set.Status.UpdatedReplicas != 2 || set.Status.AvailableReplicas != 4 {
					return fmt.Sprintf("%d pods wait, status %+v", waiting, set.Status)
				}
				return ""
			})
			s.edit("web", image("web:2"))
			s.awaitSettled("web")
			s.keptBudget("web") // CS-31: broken pods first, and never more than two
			if n := s.updated("web"); n != 6 {
				s.Errorf("expected 6 updated pods, observed %d", n)
			}
		})
	}
}

func TestPausedUpdate(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	paused := func(yes bool) func(*v1alpha1.CloneSet) {
		return func(set *v1alpha1.CloneSet) { set.Spec.UpdateStrategy.Paused = yes }
	}
	s.run(cloneSet("web", 2, strategy(inPlace, 1), paused(true)))
	before := s.owned("web")
	s.edit("web", image("web:2"))
	s.awaitStatus("web", "CS-26: the update waits", func(set *v1alpha1.CloneSet) string {
		if set.Status.UpdatedReplicas != 0 || set.Status.UpdateRevision == set.Status.CurrentRevision {
			return fmt.Sprintf("status %+v", set.Status)
		}
		return ""
	})
	s.edit("web", replicas(3))
	s.awaitStatus("web", "CS-26: a paused set is scaled", func(set *v1alpha1.CloneSet) string {
		if set.Status.AvailableReplicas != 3 {
			return fmt.Sprintf("status %+v", set.Status)
		}
		return ""
	})
	if n := s.updated("web"); n > 1 {
		s.Errorf("CS-26: expected no old pod to be updated, observed %d updated ones", n)
	}
	s.edit("web", paused(false))
	s.awaitSettled("web")
	s.deletedOnly()
	s.created(len(before) + 1)
}

// Within the grace period a pod is out of service and still runs the old image.
func TestGracePeriod(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2, strategy(inPlace, 1), func(set *v1alpha1.CloneSet) {
		set.Spec.UpdateStrategy.InPlaceUpdateStrategy = &inplacev1alpha1.InPlaceUpdateStrategy{GracePeriodSeconds: 1}
	}))
	before := s.owned("web")
	s.expect("web", 1, 2)
	s.edit("web", image("web:2"))
	s.Await("CS-19: a pod in its grace period", func() string {
		for _, pod := range s.owned("web") {
			if pod.Annotations[inplacev1alpha1.GraceAnnotation] != "" && pod.Spec.Containers[0].Image == "web:1" && !podstate.InService(pod) {
				return ""
			}
		}
		return fmt.Sprintf("none of %v", testbed.Names(s.owned("web")))
	})
	s.awaitSettled("web")
	s.keptBudget("web")
	s.updatedOnce(before, inPlace)
}

func TestRevisions(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2, strategy(inPlace, 2), func(set *v1alpha1.CloneSet) { set.Spec.RevisionHistoryLimit = new(int32(2)) }))
	first := s.set("web").Status.UpdateRevision
	s.edit("web", image("web:2"))
	s.awaitSettled("web")
	s.edit("web", image("web:1"))
	s.awaitSettled("web")
	revision, _ := s.Revisions.Named(first)
	if got := s.set("web").Status.UpdateRevision; got != first || revision == nil || revision.Revision != 3 {
		s.Errorf("CS-E8: expected revision %s again, with the number 3, observed %s, %+v", first, got, revision)
	}
	for i := 3; i <= 6; i++ {
		s.edit("web", image(fmt.Sprintf("web:%d", i)))
		s.awaitSettled("web")
	}
	s.Await("CS-CR7: the present revision and 2 old ones", func() string {
		if n := len(s.Revisions.All()); n != 3 {
			return fmt.Sprintf("%d: %v", n, testbed.Names(s.Revisions.All()))
		}
		return ""
	})
	last := s.set("web").Status.UpdateRevision
	if revision, found := s.Revisions.Named(last); !found || revision.Revision != 7 {
		s.Errorf("CS-CR3: expected revision %s with the number 7, observed %+v", last, revision)
	}
	s.deletedOnly()
}
