package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/podwright/podwright/examples/testbed"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// scene is a namespace of a test's own, with its CloneSets and the history of its pods.
type scene struct {
	*testbed.Scene
	sets    *testbed.Mirror[*v1alpha1.CloneSet]
	history *history
}

func newScene(t *testing.T) *scene {
	t.Helper()
	history := newHistory()
	s := &scene{Scene: bed.NewScene(t, history.observe), history: history}
	sets := workloads.CloneSets(s.Namespace)
	s.sets = testbed.Follow[*v1alpha1.CloneSet](s.Scene, testbed.From(sets.List, sets.Watch), nil)
	t.Cleanup(s.tell)
	return s
}

// tell says what it was like where a test failed.
func (s *scene) tell() {
	if !s.Failed() {
		return
	}
	for _, set := range s.sets.All() {
		s.Logf("CloneSet %s, generation %d: %+v", set.Name, set.Generation, set.Status)
	}
	s.Logf("the last changes of pods in %s:\n%s", s.Namespace, strings.Join(testbed.Last(s.history.lines(), 60), "\n"))
}

// create creates a CloneSet and returns what was stored.
func (s *scene) create(set *v1alpha1.CloneSet) *v1alpha1.CloneSet {
	s.Helper()
	stored, err := workloads.CloneSets(s.Namespace).Create(s.Context(), set, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create CloneSet %s: expected no error, observed %v", set.Name, err)
	}
	return stored
}

// run creates a CloneSet and waits until its pods are there.
func (s *scene) run(set *v1alpha1.CloneSet) *v1alpha1.CloneSet {
	s.Helper()
	stored := s.create(set)
	s.awaitSettled(set.Name)
	return stored
}

// tryEdit changes a CloneSet as a user does, again when somebody else was faster.
func (s *scene) tryEdit(name string, edits ...func(*v1alpha1.CloneSet)) error {
	sets := workloads.CloneSets(s.Namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		set, err := sets.Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, edit := range edits {
			edit(set)
		}
		stored, err := sets.Update(s.Context(), set, metav1.UpdateOptions{})
		if err == nil {
			s.Await("the watch of CloneSets shows the change", func() string { return s.sets.Behind(stored.ResourceVersion) })
		}
		return err
	})
}

// edit changes a CloneSet. It waits for a manager that has just started, whose webhooks do not answer yet.
func (s *scene) edit(name string, edits ...func(*v1alpha1.CloneSet)) {
	s.Helper()
	s.AwaitAsking("no error when CloneSet "+name+" is changed", func() string {
		err := s.tryEdit(name, edits...)
		if err == nil {
			return ""
		}
		if !apierrors.IsInternalError(err) {
			s.Fatalf("change CloneSet %s: expected no error, observed %v", name, err)
		}
		return err.Error()
	})
}

// set returns a CloneSet as it is stored.
func (s *scene) set(name string) *v1alpha1.CloneSet {
	s.Helper()
	set, err := workloads.CloneSets(s.Namespace).Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.Fatalf("get CloneSet %s: %v", name, err)
	}
	return set
}

// awaitStatus waits until a CloneSet that the manager has seen in its present form satisfies wrong, which returns what is
// wrong with it.
func (s *scene) awaitStatus(name, expected string, wrong func(*v1alpha1.CloneSet) string) {
	s.Helper()
	generation := s.set(name).Generation
	s.Await(expected, func() string {
		set, found := s.sets.Named(name)
		if !found {
			return "there is no CloneSet " + name
		}
		if set.Status.ObservedGeneration < generation {
			return fmt.Sprintf("status.observedGeneration is %d of %d", set.Status.ObservedGeneration, generation)
		}
		return wrong(set)
	})
}

// awaitSettled waits until all replicas are in service, as many of them updated as the partition lets, and the status says so.
func (s *scene) awaitSettled(name string) {
	s.Helper()
	s.awaitStatus(name, "CloneSet "+name+" is settled", func(set *v1alpha1.CloneSet) string {
		if pods, n := len(s.owned(name)), s.inService(name); int32(pods) != *set.Spec.Replicas || n != pods {
			return fmt.Sprintf("replicas %d, %d pods of which %d are in service, status %+v", *set.Spec.Replicas, pods, n, set.Status)
		}
		return unsettled(set)
	})
}

func unsettled(set *v1alpha1.CloneSet) string {
	n, status := *set.Spec.Replicas, &set.Status
	if status.Replicas != n || status.ReadyReplicas != n || status.AvailableReplicas != n ||
		status.UpdatedReplicas < status.ExpectedUpdatedReplicas ||
		status.ExpectedUpdatedReplicas == n && status.CurrentRevision != status.UpdateRevision {
		return fmt.Sprintf("replicas %d, status %+v", n, *status)
	}
	return ""
}

// inService counts the pods of a CloneSet that take traffic.
func (s *scene) inService(set string) (n int) {
	for _, pod := range s.owned(set) {
		if testbed.InService(pod) {
			n++
		}
	}
	return n
}

// owned returns the active pods that a CloneSet controls, by name: those that have not ended and are not being deleted.
func (s *scene) owned(name string) []*corev1.Pod {
	var owned []*corev1.Pod
	for _, pod := range s.Pods.All() {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Name == name && testbed.Active(pod) {
			owned = append(owned, pod)
		}
	}
	slices.SortFunc(owned, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return owned
}
