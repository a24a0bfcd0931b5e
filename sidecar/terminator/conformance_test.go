// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/client/fake"
)

var tested = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: func(p *Plan) bool { return p.String() != "" }}

// TestConformance ends a pod with two sidecars. One exits with 137 when it is stopped, so
// that the kubelet starts it again. The other gets an image to exit with.
func TestConformance(t *testing.T) {
	clusterOf := func(c *conformance.Cluster) *cluster {
		if c.Data == nil {
			c.Data = newCluster(c.Cluster)
		}
		return c.Data.(*cluster)
	}
	conformance.Test(t, conformance.Subject{
		Resource: requestResource,
		Watches:  []string{"pods", "containerrecreaterequests"},
		Writes:   []string{"patch pods", "create containerrecreaterequests", "patch pods/status"},
		Prepare:  func(c *conformance.Cluster) { clusterOf(c).createNodes() },
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			kube, lifecycle := c.Client(fixture.ControllerUser), lifecycleClient(c.Cluster, fixture.ControllerUser)
			core := caches.NewInformers(kube, "")
			o := Options{Kubernetes: kube, Lifecycle: lifecycle, Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles},
				Pods: c.Share(core.Pods()), Nodes: c.Share(core.Nodes()),
				Requests: c.Share(client.NewContainerRecreateRequestInformer(lifecycle, "", 0, cache.Indexers{}))}
			return conformance.Made(tested, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			clusterOf(c).create(name, "OnFailure main: a=r: b=i:", "137", "0")
			clusterOf(c).exit(name, "main", 0)
		},
		Change: func(c *conformance.Cluster, _ string) { c.Sleep("2m") }, // by then the request would have had its time
		Step: func(c *conformance.Cluster) {
			clusterOf(c).agent()
			clusterOf(c).kubelet()
		},
		About:   func(c *conformance.Cluster, name string) string { return fmt.Sprint(clusterOf(c).pod(name).Status) },
		Outcome: func(c *conformance.Cluster, name string) string { return string(clusterOf(c).pod(name).Status.Phase) },
		Strangers: func(c *conformance.Cluster, _ string) { // a pod without sidecars, and a request that looks like ours
			clusterOf(c).create("strange", "OnFailure main: other:")
			clusterOf(c).exit("strange", "main", 0)
			strange := newRequest(clusterOf(c).pod("strange"), []string{"other"})
			_, err := clusterOf(c).requests.Create(c.T.Context(), strange, metav1.CreateOptions{})
			c.Must(err)
		},
	})
}

func TestOptions(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube, Lifecycle: fake.NewClient()}, Required: "Kubernetes Lifecycle",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}
