// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// prioritised is a world whose containers have launch priorities.
func prioritised(t *testing.T, log string) *setScenario {
	t.Helper()
	w := newScenario(t)
	w.features.LaunchPriority = true
	w.set.Spec.Template.Spec.Containers = []corev1.Container{
		{Name: "main", Image: "nginx:1"},
		{Name: "log", Image: "log:1", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: log}}},
	}
	return w
}

// Launch priorities are in the pod from its creation on.
func TestLaunchPriority(t *testing.T) {
	w := prioritised(t, "5")
	plan := NewPlan(w.snapshot())
	if len(plan.Create) != 1 || len(plan.Problems) > 0 {
		t.Fatalf("created %v, problems %v", plan.Create, plan.Problems)
	}
	pod := plan.Create[0].Pod
	var got []barrier.Barrier
	for i := range pod.Spec.Containers {
		got = append(got, barrier.Of(&pod.Spec.Containers[i])...)
	}
	want := []barrier.Barrier{
		{ConfigMap: pod.Name + "-barrier", Key: "p_0", Priority: 0},
		{ConfigMap: pod.Name + "-barrier", Key: "p_5", Priority: 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("LP-5: barriers (-want +got):\n%s", diff)
	}
	for _, c := range w.set.Spec.Template.Spec.Containers {
		if barrier.Of(&c) != nil {
			t.Errorf("the template has changed: container %s waits", c.Name)
		}
	}
	again := pod.DeepCopy()
	if err := barrier.Mutate(again, "xxxxx"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pod, again); diff != "" {
		t.Errorf("the webhook changes the pod once more:\n%s", diff)
	}

	w.features.LaunchPriority = false
	for _, c := range NewPlan(w.snapshot()).Create[0].Pod.Spec.Containers {
		if barrier.Of(&c) != nil {
			t.Errorf("container %s waits, and nobody starts it", c.Name)
		}
	}
}
