// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

const (
	// hold is a label of hooks, holdFinalizer a finalizer of hooks.
	hold          = "example.com/hold"
	holdFinalizer = "example.com/hold"
)

func hooks(l lifecyclev1alpha1.Lifecycle) func(*v1alpha1.CloneSet) {
	return func(set *v1alpha1.CloneSet) { set.Spec.Lifecycle = &l }
}

func templateLabel(key, value string) func(*v1alpha1.CloneSet) {
	return func(set *v1alpha1.CloneSet) { set.Spec.Template.Labels[key] = value }
}

// awaitState waits until a pod of the set is in a lifecycle state, and returns it.
func (s *fixture[T]) awaitState(set string, state lifecyclev1alpha1.StateType) (found *corev1.Pod) {
	s.Helper()
	s.Await(fmt.Sprintf("a pod of %s in the state %s", set, state), func() string {
		states := map[string]string{}
		for _, pod := range s.owned(set) {
			states[pod.Name] = pod.Labels[lifecyclev1alpha1.StateLabel]
			if states[pod.Name] == string(state) {
				found = pod
				return ""
			}
		}
		return fmt.Sprint(states)
	})
	return found
}

// takesBack scales in and out again: a pod that is about to be deleted, held by its hook, stays.
func (s *fixture[T]) takesBack(in, out func(T)) {
	s.Helper()
	s.edit("web", in)
	leaving := s.awaitState("web", lifecyclev1alpha1.StatePreparingDelete)
	s.edit("web", out)
	s.AwaitPod(leaving.Name, "LC-14: it is taken back", func(pod *corev1.Pod) string {
		if state := pod.Labels[lifecyclev1alpha1.StateLabel]; state != string(lifecyclev1alpha1.StateNormal) || pod.UID != leaving.UID || !podstate.InService(pod) {
			return podstate.Describe(pod, false)
		}
		return ""
	})
}

func TestPreDeleteHook(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 3, templateLabel(hold, "yes"),
		hooks(lifecyclev1alpha1.Lifecycle{PreDelete: &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{hold: "yes"}}})))
	s.takesBack(replicas(2), replicas(3))
	s.awaitSettled("web")
	s.deletedOnly()
	s.created(3)

	s.edit("web", replicas(2))
	leaving := s.awaitState("web", lifecyclev1alpha1.StatePreparingDelete)
	s.awaitStatus("web", "LC-13: the pod is kept, and is not available", func(set *v1alpha1.CloneSet) string {
		if set.Status.Replicas != 3 || set.Status.ReadyReplicas != 3 || set.Status.AvailableReplicas != 2 {
			return fmt.Sprintf("status %+v", set.Status)
		}
		return ""
	})
	s.Label(leaving.Name, hold, nil)
	s.AwaitGone(leaving, "LC-13: no longer held")
	s.awaitSettled("web")
	s.deletedOnly(leaving.Name)

	s.edit("web", replicas(1))
	leaving = s.awaitState("web", lifecyclev1alpha1.StatePreparingDelete)
	s.edit("web", func(set *v1alpha1.CloneSet) { set.Spec.Lifecycle = nil })
	s.AwaitGone(leaving, "LC-E9: the hook is gone from the spec")
}

func TestPreNormalHook(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.create(cloneSet("web", 2,
		hooks(lifecyclev1alpha1.Lifecycle{PreNormal: &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"example.com/registered": "yes"}}})))
	s.awaitStatus("web", "LC-E5: two pods are ready, none is available", func(set *v1alpha1.CloneSet) string {
		if set.Status.ReadyReplicas != 2 || set.Status.AvailableReplicas != 0 {
			return fmt.Sprintf("status %+v", set.Status)
		}
		return ""
	})
	for i, pod := range s.owned("web") {
		if state := pod.Labels[lifecyclev1alpha1.StateLabel]; state != string(lifecyclev1alpha1.StatePreparingNormal) {
			s.Errorf("LC-8: pod %s: expected PreparingNormal, observed %q", pod.Name, state)
		}
		s.Label(pod.Name, "example.com/registered", "yes")
		s.awaitStatus("web", fmt.Sprintf("LC-8: %d available pods", i+1), func(set *v1alpha1.CloneSet) string {
			if int(set.Status.AvailableReplicas) != i+1 {
				return fmt.Sprintf("status %+v", set.Status)
			}
			return ""
		})
	}
	s.awaitSettled("web")
}

// The hook of a finalizer takes a pod out of service before its update, and lets it in again after it.
func TestMarkPodNotReady(t *testing.T) {
	t.Parallel()
	hook := lifecyclev1alpha1.Lifecycle{InPlaceUpdate: &lifecyclev1alpha1.LifecycleHook{
		FinalizersHandler: []string{holdFinalizer}, MarkPodNotReady: true,
	}}
	t.Run("CloneSet", func(t *testing.T) {
		t.Parallel()
		s := newCloneSetFixture(t)
		s.run(cloneSet("web", 1, strategy(inPlace, 1), hooks(hook), func(set *v1alpha1.CloneSet) {
			set.Spec.Template.Finalizers = []string{holdFinalizer}
		}))
		s.updatesNotReady(image("web:2"))
	})
	t.Run("StatefulSet", func(t *testing.T) {
		t.Parallel()
		s := newStatefulSetFixture(t)
		s.run(statefulSet(1, s.spec(orderedInPlace), func(set *v1beta1.StatefulSet) {
			set.Spec.Lifecycle, set.Spec.Template.Finalizers = &hook, []string{holdFinalizer}
		}))
		s.updatesNotReady(mainImage("web:2"))
	})
}

// updatesNotReady updates a single pod, which a hook marks not ready as long as it holds its finalizer.
func (s *fixture[T]) updatesNotReady(update func(T)) {
	s.Helper()
	before := s.owned("web")
	name := before[0].Name
	s.edit("web", update)
	out := s.AwaitPod(name, "LC-25: prepared for its update, and not ready", func(pod *corev1.Pod) string {
		if pod.Labels[lifecyclev1alpha1.StateLabel] != string(lifecyclev1alpha1.StatePreparingUpdate) || podstate.InService(pod) {
			return podstate.Describe(pod, false)
		}
		return ""
	})
	if image := out.Spec.Containers[0].Image; image != "web:1" {
		s.Errorf("LC-3: expected the old image while the hook holds, observed %s", image)
	}
	gate, ready := podstate.Condition(out, lifecyclev1alpha1.KruisePodReady), podstate.Condition(out, corev1.PodReady)
	if want := `[{"userAgent":"Lifecycle","key":"preUpdateHook"}]`; gate.Status != corev1.ConditionFalse || gate.Message != want {
		s.Errorf("PR-5: expected KruisePodReady False with %s, observed %+v", want, gate)
	}
	if want := `the status of pod readiness gate "KruisePodReady" is not "True", but False`; ready.Reason != "ReadinessGatesNotReady" || ready.Message != want {
		s.Errorf("PR-6: expected Ready False with %s, observed %+v", want, ready)
	}

	s.PatchPod(name, map[string]any{"metadata": map[string]any{"$deleteFromPrimitiveList/finalizers": []string{holdFinalizer}}})
	s.AwaitPod(name, "LC-11, LC-25: updated, waiting for its hook, and in service again", func(pod *corev1.Pod) string {
		if pod.Labels[lifecyclev1alpha1.StateLabel] != string(lifecyclev1alpha1.StateUpdated) || !podstate.InService(pod) {
			return podstate.Describe(pod, false)
		}
		return ""
	})
	s.PatchPod(name, map[string]any{"metadata": map[string]any{"finalizers": []string{holdFinalizer}}})
	s.awaitSettled("web")
	after := s.awaitState("web", lifecyclev1alpha1.StateNormal)
	if gate := podstate.Condition(after, lifecyclev1alpha1.KruisePodReady); gate.Status != corev1.ConditionTrue || gate.Message != "[]" {
		s.Errorf("PR-9: expected KruisePodReady True with [], observed %+v", gate)
	}
	s.updatedInPlace(before)
	s.PatchPod(name, map[string]any{"metadata": map[string]any{"$deleteFromPrimitiveList/finalizers": []string{holdFinalizer}}})
}

// Several writers share the gate: what another one has written stays, and keeps the pod out of service.
func TestReadinessIsShared(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 1, strategy(inPlace, 1)))
	pod := s.owned("web")[0]
	const other = `[{"userAgent":"Drill","key":"one"}]`
	s.PatchPod(pod.Name, map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
		"type": lifecyclev1alpha1.KruisePodReady, "status": "False", "message": other,
	}}}}, "status")
	s.AwaitPod(pod.Name, "out of service", func(pod *corev1.Pod) string {
		if podstate.Condition(pod, corev1.PodReady).Status != corev1.ConditionFalse {
			return podstate.Describe(pod, false)
		}
		return ""
	})
	s.edit("web", image("web:2"))
	updated := s.AwaitPod(pod.Name, "updated", func(pod *corev1.Pod) string {
		if podstate.ContainerStatus(pod, "main").Image != "web:2" || pod.Labels[lifecyclev1alpha1.StateLabel] != string(lifecyclev1alpha1.StateNormal) {
			return podstate.Describe(pod, false)
		}
		return ""
	})
	if diff := cmp.Diff([]readiness.Key{{UserAgent: "Drill", Key: "one"}}, readiness.Keys(updated)); diff != "" || podstate.InService(updated) {
		s.Errorf("PR-3: expected the key of the other writer and no traffic, observed %s\n%s", podstate.Describe(updated, false), diff)
	}
}
