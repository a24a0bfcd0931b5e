// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// prioritised gives the containers launch priorities.
func prioritised(log string) edit {
	return func(s *Snapshot) {
		s.Features.LaunchPriority = true
		s.Set.Spec.Template.Spec.Containers = append(s.Set.Spec.Template.Spec.Containers, corev1.Container{
			Name: "log", Image: "log:1", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: log}},
		})
	}
}

// Launch priorities are in the pod from its creation on.
func TestLaunchPriority(t *testing.T) {
	s := testSnapshot(t, "A", "A", "", replicas(2), prioritised("5"))
	plan := NewPlan(s)
	if len(plan.Create) != 2 || len(plan.Problems) > 0 {
		t.Fatalf("created %v, problems %v", plan.Create, plan.Problems)
	}
	pod := plan.Create[1].Pod
	var got []barrier.Barrier
	for i := range pod.Spec.Containers {
		got = append(got, barrier.Of(&pod.Spec.Containers[i])...)
	}
	want := []barrier.Barrier{{ConfigMap: "web-1-barrier", Key: "p_0", Priority: 0}, {ConfigMap: "web-1-barrier", Key: "p_5", Priority: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("LP-5: barriers (-want +got):\n%s", diff)
	}
	again := pod.DeepCopy()
	if err := barrier.Mutate(again, "xxxxx"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pod, again); diff != "" {
		t.Errorf("the webhook changes the pod once more:\n%s", diff)
	}

	s.Features.LaunchPriority = false
	for _, c := range NewPlan(s).Create[0].Pod.Spec.Containers {
		if barrier.Of(&c) != nil {
			t.Errorf("container %s waits, and nobody starts it", c.Name)
		}
	}
}
