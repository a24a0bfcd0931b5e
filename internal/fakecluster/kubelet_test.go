// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/fakecluster"
)

// A container is not started before the keys are there that its environment
// refers to.
func TestKubeletWaitsForKeys(t *testing.T) {
	server := fakecluster.New(nil, fakecluster.Resource{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }})
	client, err := kubernetes.NewForConfig(server.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	kubelet := &fakecluster.Kubelet{Client: client}
	pods, configMaps := client.CoreV1().Pods("default"), client.CoreV1().ConfigMaps("default")
	refers := func(optional bool) []corev1.EnvVar {
		return []corev1.EnvVar{{Name: "K", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "k", Optional: &optional}}}}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "free"}, {Name: "optional", Env: refers(true)}, {Name: "waits", Env: refers(false)},
	}}}
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ready := func() (ready string) {
		t.Helper()
		if err := kubelet.SyncAll(t.Context(), "default"); err != nil {
			t.Fatal(err)
		}
		pod, err := pods.Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range pod.Status.ContainerStatuses {
			switch {
			case s.Ready:
				ready += s.Name + " "
			case s.State.Waiting == nil || s.State.Waiting.Reason != "CreateContainerConfigError" || s.ContainerID != "":
				t.Errorf("status %+v of a container that cannot be created", s)
			}
		}
		return ready
	}
	if got := ready(); got != "free optional " {
		t.Errorf("without the ConfigMap, these are ready: %s", got)
	}
	settings, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ready(); got != "free optional " {
		t.Errorf("without the key, these are ready: %s", got)
	}
	settings.Data = map[string]string{"k": ""}
	if _, err := configMaps.Update(t.Context(), settings, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := ready(); got != "free optional waits " {
		t.Errorf("with the key, these are ready: %s", got)
	}
}
