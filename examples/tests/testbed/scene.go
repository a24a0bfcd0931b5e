// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
)

// Scene is a namespace of a test's own, and everything that happens in it.
type Scene struct {
	*testing.T
	Namespace string

	Pods      *mirror.Mirror[*corev1.Pod]
	Claims    *mirror.Mirror[*corev1.PersistentVolumeClaim]
	Revisions *mirror.Mirror[*appsv1.ControllerRevision]

	bed     *Testbed
	ctx     context.Context // of what follows the namespace
	running sync.WaitGroup

	auditStart int64 // of what concerns the namespace in the audit log

	mu      sync.Mutex
	changed chan struct{} // closed at the next change of anything
}

// NewScene creates a namespace in which pods can be created. observe is told every change of a pod. The namespace goes when the test ends.
func (b *Testbed) NewScene(t *testing.T, observe mirror.Observer[*corev1.Pod]) *Scene {
	t.Helper()
	within, done := context.WithTimeout(t.Context(), Patience)
	defer done()
	namespace, err := cluster.NewNamespace(within, b.Core, "e2e-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Scene{T: t, Namespace: namespace, bed: b, ctx: ctx, changed: make(chan struct{})}
	if log, err := os.Stat(b.Control.AuditLog()); err == nil {
		s.auditStart = log.Size()
	}
	t.Cleanup(s.leave)
	t.Cleanup(func() {
		cancel()
		s.running.Wait()
	})
	s.Pods = Follow(s, mirror.Of(b.Core.CoreV1().Pods(s.Namespace)), observe)
	s.Claims = Follow[*corev1.PersistentVolumeClaim](s, mirror.Of(b.Core.CoreV1().PersistentVolumeClaims(s.Namespace)), nil)
	s.Revisions = Follow[*appsv1.ControllerRevision](s, mirror.Of(b.Core.AppsV1().ControllerRevisions(s.Namespace)), nil)
	return s
}

// Follow mirrors the objects of a source until the test ends. observe may be nil.
func Follow[T metav1.Object](s *Scene, from mirror.Source, observe mirror.Observer[T]) *mirror.Mirror[T] {
	s.Helper()
	m := mirror.New(from, observe, s.notify)
	s.running.Go(func() { m.Run(s.ctx) })
	select {
	case <-m.Filled():
	case <-time.After(Patience):
		s.Fatalf("the objects cannot be listed: %v", m.Err())
	}
	return m
}

func (s *Scene) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Scene) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Await returns once observed says nothing more; it is asked after every change of an object that the scene mirrors.
func (s *Scene) Await(expected string, observed func() string) {
	s.Helper()
	deadline := time.After(Patience)
	for {
		changed := s.next()
		wrong := observed()
		if wrong == "" {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.Fatalf("expected within %s: %s\nobserved: %s", Patience, expected, wrong)
		}
	}
}

// AwaitAsking is Await for what no watch tells: it asks again and again.
func (s *Scene) AwaitAsking(expected string, observed func() string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), Patience)
	defer cancel()
	err := Repeat(ctx, expected, func() error {
		if wrong := observed(); wrong != "" {
			return errors.New(wrong)
		}
		return nil
	})
	if err != nil {
		s.Fatalf("%v", err)
	}
}

// Errorf is that of testing.T, and names the namespace.
func (s *Scene) Errorf(format string, arguments ...any) {
	s.Helper()
	s.T.Errorf("namespace %s: %s", s.Namespace, fmt.Sprintf(format, arguments...))
}

// Fatalf is that of testing.T, and names the namespace.
func (s *Scene) Fatalf(format string, arguments ...any) {
	s.Helper()
	s.T.Fatalf("namespace %s: %s", s.Namespace, fmt.Sprintf(format, arguments...))
}

// leave tells what there is and what the manager did if a test failed, and removes the namespace.
func (s *Scene) leave() {
	if s.Failed() {
		s.Logf("%s\nthe manager's log, lines about %s and the last ones:\n%s", s.report(), s.Namespace, s.bed.Manager.LogTail(s.Namespace))
	}
	_ = s.bed.Core.CoreV1().Namespaces().Delete(context.Background(), s.Namespace, metav1.DeleteOptions{})
}
