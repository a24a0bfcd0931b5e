// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

var tested = fixture.Package[evictionresponder.Options, evictionresponder.Snapshot, evictionresponder.Plan]{New: evictionresponder.New,
	NewReconciler: evictionresponder.NewReconciler, Acts: func(p *evictionresponder.Plan) bool { return shown(p) != "" }}

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
			return conformance.Made(tested, o, evictionresponder.Rules(o))
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

func TestOptions(t *testing.T) {
	server := fakecluster.New(nil)
	conformance.CheckOptions(t, conformance.Options[evictionresponder.Options]{
		Good:          evictionresponder.Options{Kubernetes: fixture.Connect(t, server, "test", kubernetes.NewForConfig), EvictionClient: fixture.Connect(t, server, "test", connect)},
		Required:      "Kubernetes EvictionClient",
		New:           func(o evictionresponder.Options) error { _, err := evictionresponder.New(o); return err },
		NewReconciler: func(o evictionresponder.Options) error { _, err := evictionresponder.NewReconciler(o); return err }})
}
