// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/nodeagent"
)

// The informer asks for the pods of its node alone, and keeps them small.
func TestPodInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakecluster.New(nil)
		kube, err := kubernetes.NewForConfig(server.Config("agent"))
		if err != nil {
			t.Fatal(err)
		}
		for name, node := range map[string]string{"a": "node-1", "b": "node-2", "c": ""} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
				NodeName: node, NodeSelector: map[string]string{"k": "v"}, Containers: []corev1.Container{{Name: "main"}},
			}}
			if _, err := kube.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		informer := nodeagent.NewPodInformer(kube, "node-1")
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { informer.RunWithContext(ctx) })
		synctest.Wait()
		if diff := cmp.Diff([]string{"default/a"}, informer.GetStore().ListKeys()); diff != "" {
			t.Errorf("pods (-want +got):\n%s", diff)
		}
		for _, object := range informer.GetStore().List() {
			if pod := object.(*corev1.Pod); len(pod.Spec.NodeSelector) != 0 || len(pod.Spec.Containers) != 1 {
				t.Errorf("spec %+v", pod.Spec)
			}
		}
		cancel()
		running.Wait()
	})
}

// Of a pod what the features read stays, and nothing else: above all no variables
// that are written out.
func TestTrim(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-0", UID: "u", ResourceVersion: "7", Labels: map[string]string{"a": "1"}, Annotations: map[string]string{"b": "2"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "CloneSet"}}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		},
		Spec: corev1.PodSpec{NodeName: "node-1", Volumes: []corev1.Volume{{Name: "v"}}, InitContainers: []corev1.Container{{Name: "i"}}, Containers: []corev1.Container{{
			Name: "main", Image: "web:1", Command: []string{"serve"}, LivenessProbe: &corev1.Probe{},
			Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "secret"}, {Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['a']"}}}},
		}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.7", HostIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: "InPlaceUpdateReady", Status: "False"}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "containerd://m", RestartCount: 2, Ready: true, ImageID: "sha256:1"}},
		},
	}
	want := pod.DeepCopy()
	want.ManagedFields, want.Spec.Volumes, want.Spec.InitContainers, want.Status.HostIP, want.Status.ContainerStatuses[0].ImageID = nil, nil, nil, "", ""
	want.Spec.Containers[0].Command, want.Spec.Containers[0].LivenessProbe, want.Spec.Containers[0].Env[0].Value = nil, nil, ""
	got, err := nodeagent.Trim(pod)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("error %v, pod (-want +got):\n%s", err, diff)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	if got, err := nodeagent.Trim(node); got != any(node) || err != nil {
		t.Errorf("a node became %v, error %v", got, err)
	}
}
