// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
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
			case s.Ready && s.State.Running != nil && s.State.Waiting == nil:
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

// A container whose image cannot be pulled does not run, and is a new one once it runs again,
// also with the image before.
func TestKubeletStopsContainers(t *testing.T) {
	server := fakecluster.New(nil)
	client, err := kubernetes.NewForConfig(server.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	kubelet := &fakecluster.Kubelet{Client: client, Unpullable: func(image string) bool { return image == "main:nopull" }}
	pods := client.CoreV1().Pods("default")
	pod, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, image := range []string{"main:1", "main:nopull", "main:1"} {
		pod.Spec.Containers[0].Image = image
		if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time nothing changes
			if err := kubelet.SyncAll(t.Context(), "default"); err != nil {
				t.Fatal(err)
			}
		}
		if pod, err = pods.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		s := pod.Status.ContainerStatuses[0]
		if runs := image != "main:nopull"; s.Image != "main:1" || s.Ready != runs || (s.State.Running != nil) != runs || (s.State.Waiting != nil) == runs {
			t.Errorf("image %s: status %+v", image, s)
		}
		ids = append(ids, s.ContainerID)
	}
	if ids[0] != ids[1] || ids[1] == ids[2] || pod.Status.ContainerStatuses[0].RestartCount != 1 {
		t.Errorf("containers %v, restart count %d; want another one after the pull that failed", ids, pod.Status.ContainerStatuses[0].RestartCount)
	}
}

// A native sidecar is started again with another image, and its pod is not ready before it is. One that ends is not reported on.
func TestKubeletRunsNativeSidecars(t *testing.T) {
	server := fakecluster.New(nil)
	client, err := kubernetes.NewForConfig(server.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	kubelet := &fakecluster.Kubelet{Client: client, Broken: func(image string) bool { return image == "proxy:bad" }}
	pods, always := client.CoreV1().Pods("default"), corev1.ContainerRestartPolicyAlways
	pod, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "setup", Image: "setup:1"}, {Name: "proxy", Image: "proxy:1", RestartPolicy: &always}},
		Containers:     []corev1.Container{{Name: "main", Image: "main:1"}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for restarts, image := range []string{"proxy:1", "proxy:bad", "proxy:2"} {
		pod.Spec.InitContainers[1].Image = image
		if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time nothing changes
			if err := kubelet.SyncAll(t.Context(), "default"); err != nil {
				t.Fatal(err)
			}
		}
		if pod, err = pods.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := len(pod.Status.InitContainerStatuses); n != 1 || len(pod.Status.ContainerStatuses) != 1 {
			t.Fatalf("%d statuses of init containers, %d of containers", n, len(pod.Status.ContainerStatuses))
		}
		s, main, ready := pod.Status.InitContainerStatuses[0], pod.Status.ContainerStatuses[0], image != "proxy:bad"
		if s.Name != "proxy" || s.Image != image || s.RestartCount != int32(restarts) || s.Ready != ready || main.RestartCount != 0 || !main.Ready {
			t.Errorf("image %s: %+v, main %+v", image, s, main)
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && (c.Status == corev1.ConditionTrue) != ready {
				t.Errorf("image %s: %+v", image, c)
			}
		}
	}
}
