// SPDX-License-Identifier: Apache-2.0

package podfields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// CheckBarriers checks that the containers of a new pod wait by their launch priorities from the creation on, if the feature is on. If it
// is off, nothing waits: no controller would start it. create plans for a template and returns a new pod. (LP-5)
func CheckBarriers(t *testing.T, create func(template *corev1.PodTemplateSpec, on bool) *corev1.Pod) {
	t.Helper()
	template := &corev1.PodTemplateSpec{}
	template.Labels = map[string]string{"app": "web"}
	template.Spec.Containers = []corev1.Container{
		{Name: "main", Image: "nginx:1"}, {Name: "log", Image: "log:1", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: "5"}}}}
	before := template.DeepCopy()
	pod := create(template, true)
	want := []barrier.Barrier{{ConfigMap: pod.Name + "-barrier", Key: "p_0", Priority: 0}, {ConfigMap: pod.Name + "-barrier", Key: "p_5", Priority: 5}}
	if diff := cmp.Diff(want, barriers(pod)); diff != "" {
		t.Errorf("barriers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, template); diff != "" {
		t.Errorf("the template has changed (-want +got):\n%s", diff)
	}
	again := pod.DeepCopy()
	if err := barrier.Mutate(again, "xxxxx"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pod, again); diff != "" {
		t.Errorf("the webhook changes the pod once more:\n%s", diff)
	}
	if off := barriers(create(template, false)); len(off) > 0 {
		t.Errorf("without the feature: barriers %v", off)
	}
}

func barriers(pod *corev1.Pod) (all []barrier.Barrier) {
	for i := range pod.Spec.Containers {
		all = append(all, barrier.Of(&pod.Spec.Containers[i])...)
	}
	return all
}
