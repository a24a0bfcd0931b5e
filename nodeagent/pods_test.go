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

	"github.com/podwright/podwright/internal/fakecluster"
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
