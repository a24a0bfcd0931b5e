// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

func TestInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := kubernetes.NewForConfig(fakecluster.New(nil).Config("controller"))
		if err != nil {
			t.Fatal(err)
		}
		for _, namespace := range []string{"x", "y"} {
			pod := owned("web-0", namespace)
			pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "user", Operation: "Update"}}
			pod.Spec = corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}, Tolerations: []corev1.Toleration{{Key: "k"}}}
			if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		in := NewInformers(client, "x")
		pods, claims, revisions, nodes := in.Pods(), in.Claims(), in.Revisions(), in.Nodes()
		var running sync.WaitGroup
		stop := make(chan struct{})
		for _, informer := range []cache.SharedIndexInformer{pods, claims, revisions, nodes} {
			running.Go(func() { informer.Run(stop) })
		}
		synctest.Wait()
		if !pods.HasSynced() || !claims.HasSynced() || !revisions.HasSynced() || !nodes.HasSynced() {
			t.Error("not all are filled")
		}
		held := pods.GetStore().List()
		if len(held) != 1 || held[0].(*corev1.Pod).Namespace != "x" {
			t.Fatalf("the cache holds %v, want the pod of one namespace", held)
		}
		stores := Reader{"pods": pods.GetIndexer()}
		if synced := stores.SyncedResourceVersion("pods"); synced == "" {
			t.Errorf("the cache is at version %q", synced)
		}
		if synced := stores.SyncedResourceVersion("nodes"); synced != "" {
			t.Errorf("an unknown cache is at version %q", synced)
		}
		close(stop)
		running.Wait()
	})
}
