// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"fmt"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var requestResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"), "containerrecreaterequests")

// TestConformance takes a pod out of service, restarts its containers, and lets
// the request go.
func TestConformance(t *testing.T) {
	storyOf := func(c *conformance.Cluster) *story {
		if c.Data == nil {
			c.Data = newStory(c.Cluster)
		}
		return c.Data.(*story)
	}
	conformance.Test(t, conformance.Subject{
		Resource: requestResource,
		Watches:  []string{"containerrecreaterequests", "pods"},
		Writes:   []string{"patch containerrecreaterequests", "patch pods/status", "delete containerrecreaterequests"},
		Repeats:  []string{"patch containerrecreaterequests"}, // labels and annotations of its own
		Trusted:  map[string]string{"patch pods/status": "a reason for which a pod is out of service, and that no request has given, is another client's"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			kube, lifecycle := c.Client(fixture.ControllerUser), storyOf(c).lifecycle(fixture.ControllerUser)
			o := recreate.Options{Kubernetes: kube, Lifecycle: lifecycle, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles}, Recorder: &c.Events,
				Requests: c.Share(client.NewContainerRecreateRequestInformer(lifecycle, "", 0, cache.Indexers{})),
				Pods:     c.Share(caches.NewInformers(kube, "").Pods())}
			return conformance.Made(fixture.Package[recreate.Options, recreate.Snapshot, recreate.Plan]{New: recreate.New,
				Acts: func(plan *recreate.Plan) bool { return len(plan.Steps) > 0 }}, o, recreate.Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			s := storyOf(c)
			s.pod(name)
			s.create(name, name, "unready=3", "ttl=3")
		},
		Step: func(c *conformance.Cluster) {
			storyOf(c).node.kubelet()
			storyOf(c).node.agent()
		},
		Outcome: func(c *conformance.Cluster, name string) string {
			s := storyOf(c)
			pod := s.getPod(name)
			restarts := pod.Status.ContainerStatuses[0].RestartCount
			return fmt.Sprint("in service ", readiness.Ready(pod), ", restarts ", restarts, ", gone ", s.get(name) == nil)
		},
	})
}

func TestOptions(t *testing.T) {
	conformance.CheckOptions(t, conformance.Options[recreate.Options]{Good: goodOptions(t), Required: "Kubernetes Lifecycle",
		New:           func(o recreate.Options) error { _, err := recreate.New(o); return err },
		NewReconciler: func(o recreate.Options) error { _, err := recreate.NewReconciler(o); return err }})
}
