// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// TestCachesShare: the pods of a set have the same containers in memory, in all caches, and go on to when one
// changes. Nothing changes an object of a cache; KUBE_CACHE_MUTATION_DETECTOR=true has client-go look, too.
func TestCachesShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := kubernetes.NewForConfig(fakecluster.New(nil).Config("controller"))
		if err != nil {
			t.Fatal(err)
		}
		const pods = 4
		for i := range pods {
			pod := owned(fmt.Sprintf("web-%d", i), "x", metav1.OwnerReference{APIVersion: "v1", Kind: "X", Name: "web", UID: "1"})
			pod.Labels = map[string]string{"app": "web", "pod": pod.Name}
			pod.Spec.Containers = crowdPod(t, i, 1).Spec.Containers
			if _, err := client.CoreV1().Pods("x").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		var guard fakecluster.Guard
		var running sync.WaitGroup
		stop := make(chan struct{})
		informers := []cache.SharedIndexInformer{NewInformers(client, "").Pods(), NewInformers(client, "").Pods()}
		for _, informer := range informers {
			if err := informer.SetTransform(guard.Transform(Trim)); err != nil {
				t.Fatal(err)
			}
			running.Go(func() { informer.Run(stop) })
			synctest.Wait() // two that are filled at the same moment may each keep a pod as the first
		}
		check := func(when string) {
			t.Helper()
			synctest.Wait()
			containers := map[*corev1.Container]bool{}
			for _, informer := range informers {
				held := informer.GetStore().List()
				if len(held) != pods {
					t.Fatalf("%s: a cache holds %d pods", when, len(held))
				}
				for _, object := range held {
					containers[&object.(*corev1.Pod).Spec.Containers[0]] = true
				}
			}
			if len(containers) != 1 {
				t.Errorf("%s: the pods have %d lists of containers in memory", when, len(containers))
			}
			if err := guard.Check(); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		check("at the start")
		if _, err := client.CoreV1().Pods("x").Patch(t.Context(), "web-0", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"other"}}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		check("after a change")
		for _, object := range informers[0].GetStore().List() { // as readers do
			pod := object.(*corev1.Pod)
			changed := pod.DeepCopy()
			changed.Spec.Containers[0].Env[0].Value, changed.Labels["app"] = "changed", "changed"
			if more := append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: pod.Name}); more[len(more)-1].Name != pod.Name {
				t.Error("what is appended is missing")
			}
		}
		check("after changes of copies")
		close(stop)
		running.Wait()
	})
}
