// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestOrphansAreNotAdopted(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.Orphan("orphan", map[string]string{"app": "web"})
	s.run(cloneSet("web", 2))
	s.edit("web", replicas(0))
	s.awaitSettled("web")
	s.AwaitPod("orphan", "CS-1: in service, without an owner", func(pod *corev1.Pod) string {
		if len(pod.OwnerReferences) > 0 || !podstate.InService(pod) {
			return fmt.Sprintf("%s, owners %v", podstate.Describe(pod, false), pod.OwnerReferences)
		}
		return ""
	})
	s.created(3)
}

func TestPodsAreReleased(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2))
	pod := s.owned("web")[0]
	s.Label(pod.Name, "app", "debugged")
	s.AwaitPod(pod.Name, "CS-1: released", func(pod *corev1.Pod) string {
		if len(pod.OwnerReferences) > 0 {
			return fmt.Sprintf("owners %v", pod.OwnerReferences)
		}
		return ""
	})
	s.Await("CS-1: another pod in its place", func() string {
		if pods := s.owned("web"); len(pods) != 2 {
			return fmt.Sprintf("%v", testbed.Names(pods))
		}
		return ""
	})
	s.awaitSettled("web")
	s.edit("web", replicas(0))
	s.awaitSettled("web")
	if released, found := s.Pods.Named(pod.Name); !found || !podstate.InService(released) {
		s.Errorf("CS-1: expected the released pod %s to stay in service, observed found=%v", pod.Name, found)
	}
	s.created(3)
}

// Ownership is by UID: two CloneSets with the same selector keep their own pods.
func TestOverlappingSelectors(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	same := func(set *v1alpha1.CloneSet) {
		set.Spec.Selector.MatchLabels = map[string]string{"app": "shared"}
		set.Spec.Template.Labels = map[string]string{"app": "shared"}
	}
	s.run(cloneSet("one", 2, same))
	s.run(cloneSet("two", 3, same, image("web:9")))
	s.edit("one", image("web:2"), replicas(1))
	s.awaitSettled("one")
	s.awaitSettled("two")
	for _, pod := range s.owned("two") {
		if pod.Spec.Containers[0].Image != "web:9" {
			s.Errorf("CS-E21: expected web:9 in pod %s, observed %s", pod.Name, pod.Spec.Containers[0].Image)
		}
	}
	for _, name := range s.history.deleted() {
		if name[:4] != "one-" {
			s.Errorf("CS-E21: expected no pod of two to be deleted, observed %s", name)
		}
	}
}

func TestFailedPodIsReplaced(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2))
	failed := s.owned("web")[0]
	s.SetPhase(failed.Name, corev1.PodFailed)
	s.awaitSettled("web")
	if pod, found := s.Pods.Named(failed.Name); !found || pod.DeletionTimestamp != nil {
		s.Errorf("CS-E12: expected the failed pod %s to be left as it is, observed found=%v", failed.Name, found)
	}
	s.deletedOnly()
	s.created(3)
}

// deleteSet deletes a workload and waits until it is gone.
func (s *fixture[T]) deleteSet(name string, how metav1.DeletionPropagation) {
	s.Helper()
	if err := s.client.Delete(s.Context(), name, metav1.DeleteOptions{PropagationPolicy: &how}); err != nil {
		s.Fatalf("delete %s %s: %v", s.kind.name, name, err)
	}
	s.Await(fmt.Sprintf("%s %s is gone", s.kind.name, name), func() string {
		if set, found := s.sets.Named(name); found {
			return fmt.Sprintf("it has the finalizers %v and the deletionTimestamp %v", set.GetFinalizers(), set.GetDeletionTimestamp())
		}
		return ""
	})
}

// anythingLeft says which pods, claims and revisions there are.
func (s *fixture[T]) anythingLeft() string {
	if pods, claims, revisions := s.Pods.All(), s.Claims.All(), s.Revisions.All(); len(pods)+len(claims)+len(revisions) > 0 {
		return fmt.Sprintf("%v, %v, %v", testbed.Names(pods), testbed.Names(claims), testbed.Names(revisions))
	}
	return ""
}

// The garbage collector removes what belongs to a deleted CloneSet, and no controller creates it again.
func TestCascadingDeletion(t *testing.T) {
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			s := newCloneSetFixture(t)
			s.run(cloneSet("web", 3, claimTemplate("data")))
			s.deleteSet("web", how)
			s.Await("no pods, claims and revisions", s.anythingLeft)
			s.created(3)
		})
	}
}

// Orphaned pods live on, and a new CloneSet of the same name leaves them alone.
func TestOrphaningDeletion(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2))
	left := s.owned("web")
	s.deleteSet("web", metav1.DeletePropagationOrphan)
	s.run(cloneSet("web", 1))
	for _, old := range left {
		pod, err := s.Core.CoreV1().Pods(s.Namespace).Get(s.Context(), old.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && (len(pod.OwnerReferences) > 0 || !podstate.InService(pod)) {
			s.Errorf("CS-1: expected pod %s in service without an owner, observed %+v, %v", old.Name, pod.OwnerReferences, err)
		}
	}
	s.deletedOnly()
	s.created(3)
}
