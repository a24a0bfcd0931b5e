// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var controllers = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: func(p *Plan) bool { return p.String() != "" }}

// TestConformance spreads three pods of a Deployment. What becomes of those that cannot be scheduled depends on the time, and
// is tested in scripts.
func TestConformance(t *testing.T) {
	clusterOf := func(c *conformance.Cluster) *cluster {
		if c.Data == nil {
			c.Data = newCluster(c.Cluster)
		}
		return c.Data.(*cluster)
	}
	conformance.Test(t, conformance.Subject{
		Resource: spreadResource, More: others,
		Watches: []string{"workloadspreads", "pods", "deployments", "replicasets"},
		Misses:  []string{"deployments"},
		Writes:  []string{"patch pods", "patch workloadspreads/status"},
		Unasked: map[string]string{
			"get apps.kruise.io/workloadspreads": "a Placer reads a spread again after a conflict",
			"delete /pods":                       "pods that cannot be scheduled are deleted on demand, and misplaced ones (WS-17, WS-19)",
		},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			o := clusterOf(c).options
			o.Workloads, o.Metrics = nil, c.Reconciles
			core := informers.NewSharedInformerFactory(o.Kubernetes, 0)
			o.Pods, o.ReplicaSets = c.Share(core.Core().V1().Pods().Informer()), c.Share(core.Apps().V1().ReplicaSets().Informer())
			o.Deployments = c.Share(core.Apps().V1().Deployments().Informer())
			o.Spreads = c.Share(client.NewWorkloadSpreadInformer(o.Distribution, "", 0, cache.Indexers{}))
			return conformance.Made(controllers, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			w := clusterOf(c)
			w.deployment(name, 4)
			w.createSpread(name, "subsets: [{name: a, maxReplicas: 50%}, {name: c}]")
			owner := w.replicaSet(name, 1, 4)
			w.pod(name+"-x", "a", owner)
			w.pod(name+"-y", "c", owner)
			w.pod(name+"-z", "a", owner)
		},
		Change:  func(c *conformance.Cluster, name string) { clusterOf(c).scale(name, 2) },
		Step:    func(c *conformance.Cluster) { c.Sleep("1s") },
		Outcome: func(c *conformance.Cluster, name string) string { return clusterOf(c).show(name) },
		Strangers: func(c *conformance.Cluster, name string) {
			w := clusterOf(c)
			owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-1", UID: "another", Controller: new(true)}
			w.pod("strange", "a", owner)
		},
	})
}

func TestOptions(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube, Distribution: fake.NewClient()}, Required: "Kubernetes Distribution",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}
