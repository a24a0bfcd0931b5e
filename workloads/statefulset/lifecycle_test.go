// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// hooked gives the set hooks that the label hold=true holds, and that label to
// the pods with the given indexes.
func hooked(pods ...int) edit {
	return func(s *Snapshot) {
		hook := &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"hold": "true"}}
		s.Set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{PreDelete: hook, InPlaceUpdate: hook, PreNormal: hook}
		for _, i := range pods {
			s.Pods[i].Labels["hold"] = "true"
		}
	}
}

func markPodNotReady(s *Snapshot) { s.Set.Spec.Lifecycle.PreDelete.MarkPodNotReady = true }

// Every write about a pod is part of the fewest requests: the first condition
// of a new pod is one.
func TestFirstCondition(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A?")
	s.Pods[0].Status.Conditions = nil
	plan := NewPlan(s)
	if got := summary(s, plan); got != "Refresh 0" {
		t.Fatalf("plan %q", got)
	}
	patched, err := plan.Patch[0].Patch.Apply(s.Pods[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range []corev1.PodConditionType{lifecyclev1alpha1.KruisePodReady, inplacev1alpha1.InPlaceUpdateReady} {
		if c := readiness.Condition(patched, condition); c == nil || c.Status != corev1.ConditionTrue {
			t.Errorf("condition %s: %v", condition, c)
		}
	}
	if writes, _ := plan.Patch[0].Patch.Writes(s.Pods[0]); len(writes) != 1 {
		t.Errorf("%d requests, want 1", len(writes))
	}
}

// An in-place update runs as the rules of package inplace say (IP-11 to IP-28), through all of its steps.
func TestInPlaceUpdateOfOnePod(t *testing.T) {
	s := testSnapshot(t, "B", "A", "0A", inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType))
	s.Set.Spec.UpdateStrategy.RollingUpdate.InPlaceUpdateStrategy = &inplacev1alpha1.InPlaceUpdateStrategy{GracePeriodSeconds: 10}
	apply := func(want string) {
		t.Helper()
		plan := NewPlan(s)
		if got := summary(s, plan); got != want {
			t.Fatalf("plan %q, want %q; %v", got, want, plan.Waiting)
		}
		for _, patch := range plan.Patch {
			pod, err := patch.Patch.Apply(s.Pods[0])
			if err != nil {
				t.Fatal(err)
			}
			s.Pods[0] = pod
		}
	}
	s.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "a", ImageID: "id-a", Ready: true}}
	apply("UpdateInPlace 0")
	if got := lifecycle.StateOf(s.Pods[0]); got != lifecyclev1alpha1.StateUpdating {
		t.Errorf("state %s, want Updating", got)
	}
	if got := s.Pods[0].Spec.Containers[0].Image; got != "a" {
		t.Errorf("the image is %s within the grace period", got)
	}
	if got := s.Pods[0].Labels[podplan.RevisionLabel]; got != testName(s, "B") {
		t.Errorf("revision %s, want that of B: the full name (STS-E22)", got)
	}
	apply("")
	s.Now = s.Now.Add(11 * time.Second)
	apply("Refresh 0")
	if got := s.Pods[0].Spec.Containers[0].Image; got != "b" {
		t.Errorf("the image is %s after the grace period", got)
	}
	s.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "b", ImageID: "id-b", Ready: true, RestartCount: 1}}
	apply("Refresh 0")
	if c := readiness.Condition(s.Pods[0], inplacev1alpha1.InPlaceUpdateReady); c.Status != corev1.ConditionTrue {
		t.Errorf("InPlaceUpdateReady is %s", c.Status)
	}
	if got := lifecycle.StateOf(s.Pods[0]); got != lifecyclev1alpha1.StateNormal {
		t.Errorf("state %s, want Normal", got)
	}
	readiness.Condition(s.Pods[0], corev1.PodReady).Status = corev1.ConditionTrue
	apply("")
}

// Another manager, with an older cache, has put a pod back into service during its grace period. The pod gets its revision back,
// which is kept, and is updated anew. (IP-34)
func TestUpdateOfAPodThatIsPutBackIntoService(t *testing.T) {
	s := testSnapshot(t, "B", "A", "0A", inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType))
	s.Set.Spec.UpdateStrategy.RollingUpdate.InPlaceUpdateStrategy = &inplacev1alpha1.InPlaceUpdateStrategy{GracePeriodSeconds: 10}
	s.Set.Spec.RevisionHistoryLimit = new(int32)
	step := func(want string) *Plan {
		t.Helper()
		plan := NewPlan(s)
		if got := summary(s, plan); got != want {
			t.Fatalf("plan %q, want %q; %v", got, want, plan.Waiting)
		}
		pod, err := plan.Patch[0].Patch.Apply(s.Pods[0])
		if err != nil {
			t.Fatal(err)
		}
		s.Pods[0] = pod
		return plan
	}
	backAndAgain := func(from, to string) {
		t.Helper()
		step("UpdateInPlace 0")
		s.Set.Status.CurrentRevision = testName(s, to)
		for _, c := range []corev1.PodConditionType{inplacev1alpha1.InPlaceUpdateReady, corev1.PodReady} {
			*readiness.Condition(s.Pods[0], c) = corev1.PodCondition{Type: c, Status: corev1.ConditionTrue}
		}
		s.Now = s.Now.Add(11 * time.Second)
		plan := step("Refresh 0")
		if got := s.Pods[0].Labels[podplan.RevisionLabel]; got != testName(s, from) || s.Pods[0].Spec.Containers[0].Image != strings.ToLower(from) {
			t.Errorf("revision %s, image %s; want those of %s", got, s.Pods[0].Spec.Containers[0].Image, from)
		}
		for _, r := range plan.Revisions.Delete {
			if r.Name == testName(s, from) {
				t.Errorf("deletes revision %s, which the pod goes back to", from)
			}
		}
		step("Refresh 0") // the state of its lifecycle
		step("UpdateInPlace 0")
		if got := s.Pods[0].Spec.Containers[0].Image; got != strings.ToLower(from) || !inplace.InGrace(s.Pods[0]) {
			t.Errorf("image %s, in its grace period: %t", got, inplace.InGrace(s.Pods[0]))
		}
	}
	backAndAgain("A", "B")

	s.Now = s.Now.Add(11 * time.Second)
	step("Refresh 0") // the image, which the kubelet does not start
	s.Set.Spec.Template = testTemplate("C")
	s.Revisions = append(s.Revisions, testRevision(t, s.Set, "C"))
	backAndAgain("B", "C")
}
