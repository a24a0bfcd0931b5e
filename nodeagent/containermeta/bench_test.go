// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
)

// podsPerNode is how many pods a node of the benchmarks has.
const podsPerNode = 100

// fullNode returns a Reconciler of a node whose pods run and are not reported.
func fullNode(b *testing.B) (*Reconciler, map[string]*corev1.Pod, []types.NamespacedName) {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	kube, fake := fixture.Connect(b, fakecluster.New(nil), "agent", kubernetes.NewForConfig), fakecri.New(nil)
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	pods, keys := map[string]*corev1.Pod{}, make([]types.NamespacedName, podsPerNode)
	for i := range podsPerNode {
		pod, err := kube.CoreV1().Pods("default").Create(b.Context(), newPod(fmt.Sprint("web-", i)), metav1.CreateOptions{})
		must(err)
		must((&fakecri.Kubelet{Runtime: fake}).Run(pod))
		must(store.Add(pod))
		pods[pod.Name] = pod
		keys[i] = types.NamespacedName{Namespace: "default", Name: pod.Name}
	}
	r, err := NewReconciler(Options{ControllerOptions: podwright.ControllerOptions{Reader: caches.Reader{caches.Pods: store}}, Kubernetes: kube, Runtime: agents.Connect(b, fake)})
	must(err)
	return r, pods, keys
}

func reconcileAll(b *testing.B, r *Reconciler, keys []types.NamespacedName) {
	b.Helper()
	for _, key := range keys {
		if _, err := r.Reconcile(b.Context(), key); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReport measures the first report of a whole node, the servers in
// memory included.
func BenchmarkReport(b *testing.B) {
	r, _, keys := fullNode(b)
	b.ReportAllocs()
	for b.Loop() {
		reconcileAll(b, r, keys)
	}
}

// BenchmarkQuiet measures the reconciles of a node on which all is settled.
func BenchmarkQuiet(b *testing.B) {
	r, pods, keys := fullNode(b)
	for _, key := range keys {
		plan, err := r.Plan(b.Context(), key)
		if err != nil {
			b.Fatal(err)
		}
		report(pods[key.Name], plan.Report.Containers...)
	}
	b.ReportAllocs()
	for b.Loop() {
		reconcileAll(b, r, keys)
	}
}

// BenchmarkNewPlan measures the decision about one pod.
func BenchmarkNewPlan(b *testing.B) {
	r, pods, keys := fullNode(b)
	s, _, err := r.self.plan(b.Context(), keys[0], pods[keys[0].Name])
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		NewPlan(s)
	}
}
