// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/conformance/podfields"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Every field that Kubernetes' libraries know passes through: those of the pod, and those of the injected containers, native
// sidecars too. The fields of their volumes pass through as well, image volumes too. Only what is added is another. (SCI-6,
// SCI-7, SCI-11)
func TestEveryField(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", Labels: map[string]string{"app": "web"}}, Spec: podfields.Full()}
	set := setOf(t, "demo", "{}")
	sidecar := func(name string) (c v1alpha1.SidecarContainer) {
		podfields.Fill(&c.Container)
		c.Name, c.VolumeMounts[0].Name = name, "model"
		return c
	}
	set.Spec.InitContainers, set.Spec.Containers = []v1alpha1.SidecarContainer{sidecar("native")}, []v1alpha1.SidecarContainer{sidecar("log")}
	set.Spec.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	volume := corev1.Volume{Name: "model", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "llm:1", PullPolicy: corev1.PullNever}}}
	set.Spec.Volumes = []corev1.Volume{volume}

	marked := func(c corev1.Container) corev1.Container {
		c = *c.DeepCopy()
		c.Env = append(c.Env, corev1.EnvVar{Name: "IS_INJECTED", Value: "true"})
		return c
	}
	want := pod.Spec.DeepCopy()
	want.InitContainers = append(want.InitContainers, marked(set.Spec.InitContainers[0].Container))
	want.Containers = append([]corev1.Container{marked(set.Spec.Containers[0].Container)}, want.Containers...)
	want.Volumes = append(want.Volumes, volume)
	result, err := inject(t, injection.Input{Pod: pod, Namespace: namespace(), SidecarSets: []*v1alpha1.SidecarSet{set}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, &result.Pod.Spec); diff != "" {
		t.Errorf("the pod (-want +got):\n%s", diff)
	}
}
