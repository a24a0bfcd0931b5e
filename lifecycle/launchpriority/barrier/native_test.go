// SPDX-License-Identifier: Apache-2.0

package barrier_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// LP-7: native sidecars have an order of their own, before all containers. They get no barrier, and none counts as a container.
func TestNativeSidecars(t *testing.T) {
	natives := func(priorities ...string) func(*corev1.Pod) {
		always := corev1.ContainerRestartPolicyAlways
		return func(pod *corev1.Pod) {
			for _, priority := range priorities {
				pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{
					Name: "native" + priority, RestartPolicy: &always, Env: []corev1.EnvVar{literal("KRUISE_CONTAINER_PRIORITY", priority)}})
			}
		}
	}
	for _, test := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"one container beside them", podOf("main=5", natives("7", "9")), "-"},
		{"one container beside them, ordered", podOf("main", natives("7", "9"), annotated("Ordered")), "-"},
		{"several containers, ordered", podOf("main log", natives("7"), annotated("Ordered")), "web-barrier/p_0 web-barrier/p_-1"},
		{"priorities that differ from theirs alone", podOf("main=5 log=5", natives("7")), "- -"},
		{"priorities", podOf("main log=5", natives("7")), "web-barrier/p_0 web-barrier/p_5"},
		{"a priority of theirs that is none", podOf("main log=5", natives("first")), "web-barrier/p_0 web-barrier/p_5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.pod.DeepCopy().Spec.InitContainers
			if err := barrier.Mutate(test.pod, ""); err != nil {
				t.Fatal(err)
			}
			if got := barriers(test.pod); got != test.want {
				t.Errorf("barriers %s, want %s", got, test.want)
			}
			if diff := cmp.Diff(before, test.pod.Spec.InitContainers); diff != "" {
				t.Errorf("native sidecars (-before +after):\n%s", diff)
			}
		})
	}
}
