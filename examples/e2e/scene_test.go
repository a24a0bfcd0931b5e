package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// scene is a namespace of a test's own, and everything that happens in it.
type scene struct {
	*testing.T
	namespace string

	sets      *mirror[*v1alpha1.CloneSet]
	pods      *mirror[*corev1.Pod]
	claims    *mirror[*corev1.PersistentVolumeClaim]
	revisions *mirror[*appsv1.ControllerRevision]
	history   *history

	mu      sync.Mutex
	changed chan struct{} // closed at the next change of anything
}

func newScene(t *testing.T) *scene {
	t.Helper()
	namespace, err := core.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, namespace: namespace.Name, changed: make(chan struct{}), history: newHistory()}
	t.Cleanup(s.leave)
	s.watch()
	s.awaitServiceAccount()
	return s
}

// watch mirrors what the namespace holds, until the test ends.
func (s *scene) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	s.Cleanup(func() {
		cancel()
		running.Wait()
	})
	pods, claims := core.CoreV1().Pods(s.namespace), core.CoreV1().PersistentVolumeClaims(s.namespace)
	revisions, sets := core.AppsV1().ControllerRevisions(s.namespace), workloads.CloneSets(s.namespace)
	s.sets = newMirror[*v1alpha1.CloneSet](s, from(sets.List, sets.Watch))
	s.pods = newMirror[*corev1.Pod](s, from(pods.List, pods.Watch))
	s.pods.observe = s.history.observe
	s.claims = newMirror[*corev1.PersistentVolumeClaim](s, from(claims.List, claims.Watch))
	s.revisions = newMirror[*appsv1.ControllerRevision](s, from(revisions.List, revisions.Watch))
	for _, follow := range []func(context.Context, chan<- struct{}){s.sets.follow, s.pods.follow, s.claims.follow, s.revisions.follow} {
		filled := make(chan struct{})
		running.Go(func() { follow(ctx, filled) })
		select {
		case <-filled:
		case <-time.After(patience):
			s.fatalf("the objects of the namespace cannot be listed")
		}
	}
}

func newMirror[T metav1.Object](s *scene, from source) *mirror[T] {
	return &mirror[T]{source: from, changed: s.notify, objects: map[types.UID]T{}}
}

func from[L runtime.Object](list func(context.Context, metav1.ListOptions) (L, error),
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)) source {
	return source{
		list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) },
		watch: watch,
	}
}

func (s *scene) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *scene) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// await returns once observed says nothing more; it is asked after every change of an object in the namespace.
func (s *scene) await(expected string, observed func() string) {
	s.Helper()
	deadline := time.After(patience)
	for {
		changed := s.next()
		wrong := observed()
		if wrong == "" {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.fatalf("expected within %s: %s\nobserved: %s", patience, expected, wrong)
		}
	}
}

// awaitAsking is await for what no watch tells: it asks again and again.
func (s *scene) awaitAsking(expected string, observed func() string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	for {
		wrong := observed()
		if wrong == "" {
			return
		}
		if ctx.Err() != nil {
			s.fatalf("expected within %s: %s\nobserved: %s", patience, expected, wrong)
		}
		pause(ctx)
	}
}

// awaitServiceAccount waits for what no pod can be created without.
func (s *scene) awaitServiceAccount() {
	s.Helper()
	s.awaitAsking("the default service account", func() string {
		if _, err := core.CoreV1().ServiceAccounts(s.namespace).Get(s.Context(), "default", metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
}

func (s *scene) errorf(format string, arguments ...any) {
	s.Helper()
	s.Errorf("namespace %s: %s", s.namespace, fmt.Sprintf(format, arguments...))
}

func (s *scene) fatalf(format string, arguments ...any) {
	s.Helper()
	s.Fatalf("namespace %s: %s", s.namespace, fmt.Sprintf(format, arguments...))
}

// leave tells what it was like where a test failed, and removes the namespace.
func (s *scene) leave() {
	if s.Failed() {
		for _, set := range s.sets.all() {
			s.Logf("CloneSet %s, generation %d: %+v", set.Name, set.Generation, set.Status)
		}
		s.Logf("the last changes of pods in %s:\n%s", s.namespace, strings.Join(last(s.history.lines(), 60), "\n"))
		s.Logf("the manager's log, lines about %s and the last ones:\n%s", s.namespace, manager.logTail(s.namespace))
	}
	_ = core.CoreV1().Namespaces().Delete(context.Background(), s.namespace, metav1.DeleteOptions{})
}

// create creates a CloneSet and returns what was stored.
func (s *scene) create(set *v1alpha1.CloneSet) *v1alpha1.CloneSet {
	s.Helper()
	stored, err := workloads.CloneSets(s.namespace).Create(s.Context(), set, metav1.CreateOptions{})
	if err != nil {
		s.fatalf("create CloneSet %s: expected no error, observed %v", set.Name, err)
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
	sets := workloads.CloneSets(s.namespace)
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
			s.await("the watch of CloneSets shows the change", func() string { return s.sets.behind(stored.ResourceVersion) })
		}
		return err
	})
}

// edit changes a CloneSet. It waits for a manager that has just started, whose webhooks do not answer yet.
func (s *scene) edit(name string, edits ...func(*v1alpha1.CloneSet)) {
	s.Helper()
	s.awaitAsking("no error when CloneSet "+name+" is changed", func() string {
		err := s.tryEdit(name, edits...)
		if err == nil {
			return ""
		}
		if !apierrors.IsInternalError(err) {
			s.fatalf("change CloneSet %s: expected no error, observed %v", name, err)
		}
		return err.Error()
	})
}

// set returns a CloneSet as it is stored.
func (s *scene) set(name string) *v1alpha1.CloneSet {
	s.Helper()
	set, err := workloads.CloneSets(s.namespace).Get(s.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.fatalf("get CloneSet %s: %v", name, err)
	}
	return set
}

// awaitStatus waits until a CloneSet that the manager has seen in its present form satisfies wrong, which returns what is
// wrong with it.
func (s *scene) awaitStatus(name, expected string, wrong func(*v1alpha1.CloneSet) string) {
	s.Helper()
	generation := s.set(name).Generation
	s.await(expected, func() string {
		set, found := s.sets.named(name)
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
		if inService(pod) {
			n++
		}
	}
	return n
}

// owned returns the active pods that a CloneSet controls, by name: those that have not ended and are not being deleted.
func (s *scene) owned(name string) []*corev1.Pod {
	var owned []*corev1.Pod
	for _, pod := range s.pods.all() {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Name == name && active(pod) {
			owned = append(owned, pod)
		}
	}
	slices.SortFunc(owned, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return owned
}

func active(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func names[T metav1.Object](objects []T) []string {
	var all []string
	for _, object := range objects {
		all = append(all, object.GetName())
	}
	slices.Sort(all)
	return all
}
