// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// TestConformance has a CloneSet make room for its only pod, and evicts that.
func TestConformance(t *testing.T) {
	conformance.Test(t, conformance.Subject{
		Resource: evictionResource, More: []fakecluster.Resource{cloneSetResource},
		Watches:   []string{"evictions", "pods", "clonesets"},
		MoreTries: 60,
		Writes:    []string{"create pods/eviction", "patch evictions/status", "patch pods"},
		Trusted:   map[string]string{"patch evictions/status": "a responder that is through says no more"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			o := options(t, c.Cluster)
			o.Metrics = c.Reconciles
			o.Evictions = c.Share(evictionresponder.NewEvictionInformer(o.EvictionClient, "", 0, cache.Indexers{}))
			o.Pods = c.Share(caches.NewInformers(o.Kubernetes, "").Pods())
			o.CloneSets = c.Share(workloadsclient.NewCloneSetInformer(o.Workloads, "", 0, cache.Indexers{}))
			controller, err := evictionresponder.New(o)
			c.Must(err)
			return conformance.Controller{Memory: controller, Rules: evictionresponder.Rules(o), Run: controller.Run, Next: func(key types.NamespacedName) (string, error) {
				plan, err := controller.Plan(c.T.Context(), key)
				if err != nil || plan == nil {
					return "", err
				}
				return shown(plan), nil
			}}, nil
		},
		Create: func(c *conformance.Cluster, name string) {
			o := newOthers(c.Cluster)
			o.pod(name, 1)
			o.evictAs(name, name)
		},
		Step: func(c *conformance.Cluster) {
			newOthers(c.Cluster).makeRoom()
			c.KubeletStep()
		},
		Outcome: func(c *conformance.Cluster, name string) string {
			_, err := c.Kube.CoreV1().Pods(fixture.Web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
			return fmt.Sprint("gone ", apierrors.IsNotFound(err), ", ", newOthers(c.Cluster).reported(name))
		},
	})
}

// CT-12: another writer replaces the message of each report and removes its time. The responder answers it less and less often. Heartbeats do not
// wait.
func TestReportsAreContested(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 1)
		o.evictAs("web", "web")
		o.Sleep("1s")
		reports := func() int { return o.Count(fixture.ControllerUser)["patch evictions/status"] }
		for i, answered := 0, 0; i < 3600; i++ {
			if n := reports(); n > answered {
				o.status("web", map[string]any{"status": map[string]any{"responders": []any{map[string]any{"name": "imperative-eviction.k8s.io/evictor"},
					map[string]any{"name": evictionresponder.ResponderName, "startTime": metav1.Now(), "message": fmt.Sprint("nonsense ", i)}}}})
				answered = n
			}
			o.Sleep("1s")
		}
		if n := reports(); n < 10 || n > 50 {
			t.Errorf("%d reports in an hour", n)
		}
		o.Sleep("20m")
		before := reports()
		o.Sleep("20m")
		if n := reports() - before; n != 4 {
			t.Errorf("%d heartbeats in 20 minutes, want 4", n)
		}
	})
}

func TestOptions(t *testing.T) {
	server := fakecluster.New(nil)
	conformance.CheckOptions(t, conformance.Options[evictionresponder.Options]{
		Good:          evictionresponder.Options{Kubernetes: fixture.Connect(t, server, "test", kubernetes.NewForConfig), EvictionClient: fixture.Connect(t, server, "test", connect)},
		Required:      "Kubernetes EvictionClient",
		New:           func(o evictionresponder.Options) error { _, err := evictionresponder.New(o); return err },
		NewReconciler: func(o evictionresponder.Options) error { _, err := evictionresponder.NewReconciler(o); return err }})
}
