// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"slices"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var tested = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: acts, ClusterScoped: true,
	Plan: func(p *Plan) *rollout.Plan {
		all := p.Plan
		all.Waiting = slices.Concat(p.Waiting, p.NotUpgradable, p.NotInjected)
		return &all
	}}

// cluster is a fake cluster with SidecarSets.
type cluster struct {
	*fixture.Kind[Options, Snapshot, Plan]
	metrics  counted
	injector *CachedInjector
	changes  int // of its expression
}

// newCluster creates the namespaces, and makes a Reconciler.
func newCluster(f *fixture.Cluster) *cluster {
	c := &cluster{}
	createNamespaces(f, "default", DefaultRevisionNamespace)
	o := options(f, f.Add)
	o.SetMetrics = &c.metrics
	sources, err := controller.Open("sidecarset", o.reads()) // for the indexes
	f.Must(err)
	o.Reader = sources.Caches()
	c.Kind = fixture.NewKind(f, tested, o)
	return c
}

func (c *cluster) get(name string) *v1alpha1.SidecarSet {
	c.T.Helper()
	set, err := connect(c.Cluster, fixture.TestUser).SidecarSets().Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return set
}

// imagesIn shows the images of the pods of namespaces.
func (c *cluster) imagesIn(namespaces ...string) (out string) {
	for _, namespace := range namespaces {
		pods, err := c.Kube.CoreV1().Pods(namespace).List(c.T.Context(), metav1.ListOptions{})
		c.Must(err)
		for i := range pods.Items {
			out += fmt.Sprintf("%s/%s %s\n", namespace, pods.Items[i].Name, imagesOf(&pods.Items[i]))
		}
	}
	return out
}

// counted are SetMetrics that remember the last call.
type counted struct{ last atomic.Value }

func (m *counted) Counted(set string, status *v1alpha1.SidecarSetStatus, notInjected int) {
	m.last.Store(fmt.Sprintf("%s: %d matched, %d not injected", set, status.MatchedPods, notInjected))
}
func (m *counted) Gone(set string) { m.last.Store(set + " is gone") }
