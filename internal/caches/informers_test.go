// SPDX-License-Identifier: Apache-2.0

package caches_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// createPod creates a pod of the set web.
func createPod(b *fixture.Bubble, namespace, name string) {
	b.Helper()
	_, err := b.Kubernetes("user").CoreV1().Pods(namespace).Create(b.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web", "pod": name},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "web", UID: "1"}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}}},
	}, metav1.CreateOptions{})
	b.Must(err)
}

func TestInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fixture.Bubble{T: t, Server: fakecluster.New(nil)}
		defer b.Stop()
		createPod(b, "x", "web-0")
		createPod(b, "y", "web-0")
		in := caches.NewInformers(b.Kubernetes("controller"), "x")
		pods := in.Pods()
		for _, informer := range []cache.SharedIndexInformer{pods, in.Claims(), in.Revisions(), in.Nodes()} {
			if b.Go(fixture.Informing(informer)); !informer.HasSynced() {
				t.Error("not all are filled")
			}
		}
		held := pods.GetStore().List()
		if len(held) != 1 || held[0].(*corev1.Pod).Namespace != "x" {
			t.Fatalf("the cache holds %v, want the pod of one namespace", held)
		}
		stores := caches.Reader{"pods": pods.GetIndexer()}
		if known, unknown := stores.SyncedResourceVersion("pods"), stores.SyncedResourceVersion("nodes"); known == "" || unknown != "" {
			t.Errorf("the cache is at version %q, an unknown one at %q", known, unknown)
		}
	})
}

// TestCachesShare: the pods of a set have the same containers in memory, in all caches, and go on to when one
// changes. Nothing changes an object of a cache; KUBE_CACHE_MUTATION_DETECTOR=true has client-go look, too.
func TestCachesShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fixture.Bubble{T: t, Server: fakecluster.New(nil)}
		defer b.Stop()
		const pods = 4
		for i := range pods {
			createPod(b, "x", fmt.Sprintf("web-%d", i))
		}
		var guard fakecluster.Guard
		var informers []cache.SharedIndexInformer
		for range 2 { // one after the other: two that are filled at the same moment may each keep a pod as the first
			informer := caches.NewInformers(b.Kubernetes("controller"), "").Pods()
			b.Must(informer.SetTransform(guard.Transform(caches.Trim)))
			b.Go(fixture.Informing(informer))
			informers = append(informers, informer)
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
		_, err := b.Kubernetes("user").CoreV1().Pods("x").Patch(t.Context(), "web-0", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"app":"other"}}}`), metav1.PatchOptions{})
		b.Must(err)
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
	})
}
