// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Another owner has a ControllerRevision of the name that a workload needs: it is left alone, and the workload takes another
// name.
func TestNameOfARevisionIsTaken(t *testing.T) {
	t.Run("CloneSet", func(t *testing.T) {
		t.Parallel()
		s := newCloneSetFixture(t)
		takeName(s.fixture, func() *v1alpha1.CloneSet { return cloneSet("web", 1) }, func(set *v1alpha1.CloneSet) *int32 { return set.Status.CollisionCount })
	})
	t.Run("StatefulSet", func(t *testing.T) {
		t.Parallel()
		s := newStatefulSetFixture(t)
		takeName(s.fixture, func() *v1beta1.StatefulSet { return statefulSet(1) }, func(set *v1beta1.StatefulSet) *int32 { return set.Status.CollisionCount })
	})
}

// takeName has a workload need a name that is taken.
func takeName[T metav1.Object](s *fixture[T], workload func() T, collisions func(T) *int32) {
	s.Helper()
	s.run(workload())
	name := s.Revisions.All()[0].Name
	s.deleteSet("web", metav1.DeletePropagationBackground)
	s.Await("the pods and the revision go with it", s.anythingLeft)
	if _, err := s.Core.AppsV1().ControllerRevisions(s.Namespace).Create(s.Context(), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Revision: 1, Data: runtime.RawExtension{Raw: []byte(`{"of":"another"}`)},
	}, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.run(workload())
	if count := collisions(s.set("web")); count == nil || *count != 1 {
		s.Errorf("CS-CR5: expected one collision of names, observed %v", count)
	}
	if taken, found := s.Revisions.Named(name); !found || len(taken.OwnerReferences) > 0 || string(taken.Data.Raw) != `{"of":"another"}` {
		s.Errorf("CS-CR5: expected that %s is left alone, observed found=%t %+v", name, found, taken)
	}
	if all := testbed.Names(s.Revisions.All()); len(all) != 2 {
		s.Errorf("CS-CR5: expected a revision of another name beside %s, observed %v", name, all)
	}
	s.created(2) // one of each workload
}

// A StatefulSet keeps no more old revisions than it is told to.
func TestHistoryOfStatefulSetIsLimited(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(1, s.spec(parallelInPlace), s.spec(`{revisionHistoryLimit: 1}`)))
	for i := 2; i < 6; i++ {
		s.edit("web", mainImage(fmt.Sprintf("web:%d", i)))
		s.awaitSettled("web")
	}
	s.Await("CS-CR7: two revisions are left", func() string {
		if all := s.Revisions.All(); len(all) != 2 {
			return fmt.Sprint(testbed.Names(all))
		}
		return ""
	})
}

// A StatefulSet adopts the pods and the revisions that another one of its name has left, and restarts nothing.
func TestStatefulSetAdoptsOrphans(t *testing.T) {
	t.Parallel()
	s := newStatefulSetFixture(t)
	s.run(statefulSet(2, s.spec(parallelInPlace)))
	before, revisions := s.owned("web"), testbed.Names(s.Revisions.All())
	s.deleteSet("web", metav1.DeletePropagationOrphan)
	s.Await("no workload owns the pods", func() string {
		if owned := s.owned("web"); len(owned) > 0 {
			return fmt.Sprint(testbed.Names(owned))
		}
		return ""
	})
	set := s.run(statefulSet(2, s.spec(parallelInPlace)))
	s.unmoved(before, "web")
	for _, pod := range s.owned("web") {
		if owner := metav1.GetControllerOf(pod); owner.UID != set.UID || podstate.ContainerStatus(pod, "main").RestartCount != 0 {
			s.Errorf("expected pod %s of %s without a restart, observed %+v", pod.Name, set.UID, pod)
		}
	}
	s.Await("the revision has the new owner", func() string {
		for _, r := range s.Revisions.All() {
			if owner := metav1.GetControllerOf(r); owner == nil || owner.UID != set.UID {
				return fmt.Sprintf("%s of %+v", r.Name, owner)
			}
		}
		return ""
	})
	if now := testbed.Names(s.Revisions.All()); fmt.Sprint(now) != fmt.Sprint(revisions) {
		s.Errorf("expected the revisions %v, observed %v", revisions, now)
	}
	s.deletedOnly()
	s.created(2)
}
