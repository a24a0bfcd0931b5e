// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"strings"
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/client/fake"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var tested = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler,
	Acts: func(p *Plan) bool { return len(p.Link)+len(p.Untell) > 0 || p.Status != nil }}

// TestConformance counts three pods without a controller, of which one becomes not ready.
func TestConformance(t *testing.T) {
	clusterOf := func(c *conformance.Cluster) *cluster {
		if c.Data == nil {
			c.Data = newCluster(c.Cluster)
		}
		return c.Data.(*cluster)
	}
	conformance.Test(t, conformance.Subject{
		Resource: budgetResource, More: others,
		Watches: []string{"podunavailablebudgets", "pods"},
		Writes:  []string{"patch pods", "patch podunavailablebudgets/status"},
		Unasked: map[string]string{"get policy.kruise.io/podunavailablebudgets": "a Guard in the same program reads a budget past its cache"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			o := clusterOf(c).options
			o.Workloads, o.Metrics = nil, c.Reconciles
			core := informers.NewSharedInformerFactory(o.Kubernetes, 0)
			o.Pods, o.ReplicaSets = c.Share(core.Core().V1().Pods().Informer()), c.Share(core.Apps().V1().ReplicaSets().Informer())
			o.Budgets = c.Share(client.NewPodUnavailableBudgetInformer(o.Availability, "", 0, cache.Indexers{}))
			return conformance.Made(tested, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			clusterOf(c).Create(newBudget(name, "1", "total=3", "app="+name), "")
			for _, pod := range []string{"a", "b", "c"} {
				clusterOf(c).pod(name+"-"+pod, noOwner, "app="+name)
			}
		},
		Change: func(c *conformance.Cluster, name string) {
			c.PatchPod(name+"-a", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
		},
		Step:    func(*conformance.Cluster) {},
		Outcome: func(c *conformance.Cluster, name string) string { return clusterOf(c).show(name) },
		Strangers: func(c *conformance.Cluster, name string) {
			clusterOf(c).pod("strange", noOwner, "app=another")
		},
	})
}

func TestOptions(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube, Availability: fake.NewClient()}, Required: "Kubernetes Availability",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
	if _, err := New(Options{Kubernetes: kube, Availability: fake.NewClient(), Mirror: "annotated"}); err == nil || !strings.Contains(err.Error(), `Options.Mirror is "annotated"`) {
		t.Errorf("PUB-30: error %v", err)
	}
	_, err := NewCachedWebhook(AdmissionOptions{})
	if err == nil || !strings.Contains(err.Error(), "Options.Availability is nil") || !strings.Contains(err.Error(), "Options.Kubernetes is nil") {
		t.Errorf("without clients: error %v", err)
	}
	good := GuardOptions{Availability: fake.NewClient(), Budgets: client.NewPodUnavailableBudgetLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace))}
	for what, o := range map[string]GuardOptions{"Availability": {Budgets: good.Budgets}, "Budgets": {Availability: good.Availability}, "": good} {
		if _, err := NewGuard(o); (err != nil) != (what != "") {
			t.Errorf("without %q: %v", what, err)
		}
	}
}
