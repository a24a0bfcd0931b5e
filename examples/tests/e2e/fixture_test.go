// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/client"
)

// kind is what a fixture has to know of a kind of workload.
type kind[T metav1.Object] struct {
	name   string
	client func(of client.Interface, namespace string) clientOf[T]
	source func(of client.Interface, namespace string) mirror.Source
	state  func(T) state
}

// clientOf reads and writes the workloads of a kind in one namespace.
type clientOf[T metav1.Object] interface {
	Create(ctx context.Context, set T, opts metav1.CreateOptions) (T, error)
	Update(ctx context.Context, set T, opts metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
}

// state is what every kind of workload has, under names of its own.
type state struct {
	replicas           int32
	observedGeneration int64
	status             any
	unsettled          bool // the status says that there is something to do
}

// fixture is a namespace of a test's own, with its workloads of a kind and the history of its pods.
type fixture[T metav1.Object] struct {
	*testbed.Scene
	*bed
	kind    *kind[T]
	client  clientOf[T]
	sets    *mirror.Mirror[T]
	history *history
}

func newFixture[T metav1.Object](t *testing.T, b *bed, kind *kind[T]) *fixture[T] {
	t.Helper()
	history := &history{budgets: map[string]*budget{}}
	s := &fixture[T]{Scene: b.NewScene(t, history.Observe), bed: b, kind: kind, history: history}
	s.client = kind.client(b.workloads, s.Namespace)
	s.sets = testbed.Follow[T](s.Scene, kind.source(b.workloads, s.Namespace), nil)
	t.Cleanup(s.report)
	return s
}

// report says what it was like if a test failed.
func (s *fixture[T]) report() {
	if !s.Failed() {
		return
	}
	for _, set := range s.sets.All() {
		s.Logf("%s %s, generation %d: %+v", s.kind.name, set.GetName(), set.GetGeneration(), s.kind.state(set).status)
	}
	for _, change := range testbed.Last(s.history.Changes(), 60) {
		s.Logf("one of the last changes of pods in %s: %v", s.Namespace, change)
	}
}

// create creates a workload and returns what was stored.
func (s *fixture[T]) create(set T) T {
	s.Helper()
	stored, err := s.client.Create(s.Context(), set, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create %s %s: expected no error, observed %v", s.kind.name, set.GetName(), err)
	}
	return stored
}

// run creates a workload and waits until its pods are there.
func (s *fixture[T]) run(set T) T {
	s.Helper()
	stored := s.create(set)
	s.awaitSettled(set.GetName())
	return stored
}

// tryEdit changes a workload as a user does, again if another writer was faster.
func (s *fixture[T]) tryEdit(name string, edits ...func(T)) error {
	return s.tryUpdate(name, metav1.UpdateOptions{}, edits...)
}

func (s *fixture[T]) tryUpdate(name string, options metav1.UpdateOptions, edits ...func(T)) error {
	return retry.RetryOnConflict(testbed.Conflicts, func() error {
		set, err := s.client.Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, edit := range edits {
			edit(set)
		}
		stored, err := s.client.Update(s.Context(), set, options)
		if err == nil && options.DryRun == nil {
			s.Await("the watch of workloads shows the change", func() string { return s.sets.Behind(stored.GetResourceVersion()) })
		}
		return err
	})
}

// edit changes a workload. It waits for a manager that has just started, whose webhooks do not answer yet.
func (s *fixture[T]) edit(name string, edits ...func(T)) {
	s.Helper()
	s.AwaitAsking(fmt.Sprintf("no error when %s %s is changed", s.kind.name, name), func() string {
		err := s.tryEdit(name, edits...)
		if err == nil {
			return ""
		}
		if !apierrors.IsInternalError(err) {
			s.Fatalf("change %s %s: expected no error, observed %v", s.kind.name, name, err)
		}
		return err.Error()
	})
}

// set returns the stored workload.
func (s *fixture[T]) set(name string) T {
	s.Helper()
	set, err := s.client.Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.Fatalf("get %s %s: %v", s.kind.name, name, err)
	}
	return set
}

// awaitStatus waits until a workload that the manager has seen in its present form satisfies wrong, which returns what is
// wrong with it. The pods are those that the status is about, or later ones.
func (s *fixture[T]) awaitStatus(name, expected string, wrong func(T) string) {
	s.Helper()
	generation := s.set(name).GetGeneration()
	s.Await(expected, func() string {
		set, found := s.sets.Named(name)
		if !found {
			return fmt.Sprintf("there is no %s %s", s.kind.name, name)
		}
		if observed := s.kind.state(set).observedGeneration; observed < generation {
			return fmt.Sprintf("status.observedGeneration is %d of %d", observed, generation)
		}
		return wrong(set)
	})
	s.CatchUp()
}

// awaitSettled waits until all replicas are in service, as many of them updated as the partition lets, and the status says so.
func (s *fixture[T]) awaitSettled(name string) {
	s.Helper()
	wrong := func(set T) string {
		state := s.kind.state(set)
		if pods, n := len(s.owned(name)), s.inService(name); int32(pods) != state.replicas || n != pods {
			return fmt.Sprintf("replicas %d, %d pods of which %d are in service, status %+v", state.replicas, pods, n, state.status)
		}
		return s.unsettled(set)
	}
	for settled := false; !settled; {
		s.awaitStatus(name, fmt.Sprintf("%s %s is settled", s.kind.name, name), wrong)
		set, found := s.sets.Named(name)
		settled = found && wrong(set) == ""
	}
}

// unsettled says what the status tells of a workload that is not settled.
func (s *fixture[T]) unsettled(set T) string {
	if state := s.kind.state(set); state.unsettled {
		return fmt.Sprintf("replicas %d, status %+v", state.replicas, state.status)
	}
	return ""
}

// inService counts the pods of a workload that take traffic.
func (s *fixture[T]) inService(set string) (n int) {
	for _, pod := range s.owned(set) {
		if podstate.InService(pod) {
			n++
		}
	}
	return n
}

// owned returns the active pods that a workload controls, by name: those that have not ended and are not being deleted.
func (s *fixture[T]) owned(name string) []*corev1.Pod {
	var owned []*corev1.Pod
	for _, pod := range s.Pods.All() {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Name == name && podstate.Active(pod) {
			owned = append(owned, pod)
		}
	}
	slices.SortFunc(owned, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return owned
}
