// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// cluster is a fake cluster with SidecarSets.
type cluster struct {
	*fixture.Cluster
	options    Options
	reconciler Reconciler
}

// inCluster plays a story with the SidecarSet web and its pods.
func inCluster(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	c := &cluster{}
	fixture.Play(t, setResource, c.setUp, func(t *testing.T) { story(t, c) }, namespaceResource)
}

// setUp creates the namespaces, and makes a Reconciler.
func (c *cluster) setUp(f *fixture.Cluster) {
	c.Cluster = f
	prepare(f)
	c.options = options(f, f.Add)
	sources, err := controller.Open("sidecarset", c.options.reads()) // for the indexes
	c.Must(err)
	c.options.Reader = sources.Caches()
	c.restart()
	c.Unfinished = func() string {
		if plan := c.plan(); plan != nil && acts(plan) {
			return plan.String()
		}
		return ""
	}
}

// plan is what the Reconciler would do; nil if the SidecarSet is gone.
func (c *cluster) plan() *Plan {
	c.T.Helper()
	plan, err := c.reconciler.Plan(context.Background(), types.NamespacedName{Name: "web"})
	c.Must(err)
	return plan
}

// restart makes a Reconciler that remembers nothing.
func (c *cluster) restart() {
	c.T.Helper()
	r, err := NewReconciler(c.options)
	c.Must(err)
	c.reconciler, c.Reconcile = r, func(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
		return r.Reconcile(ctx, types.NamespacedName{Name: key.Name})
	}
}

// start runs a controller with informers of its own. The function it returns stops
// the controller and waits for it.
func (c *cluster) start(edit ...func(*Options)) (reconciles *fixture.Reconciles, stop func()) {
	c.T.Helper()
	reconciles = &fixture.Reconciles{}
	o := c.options
	o.Reader, o.SidecarSets, o.Pods, o.Revisions, o.Namespaces, o.Metrics = nil, nil, nil, nil, nil, reconciles
	return reconciles, fixture.StartNew(c.Cluster, New, o, edit...)
}

// create creates the SidecarSet web, of YAML, and its pods.
func (c *cluster) create(spec string, pods ...string) *v1alpha1.SidecarSet {
	c.T.Helper()
	set := newSet(c.T, "web", spec)
	c.Create(set, "")
	addPods(c.Cluster, set, pods...)
	return set
}

func (c *cluster) get(name string) *v1alpha1.SidecarSet {
	c.T.Helper()
	set, err := connect(c.Cluster, fixture.TestUser).SidecarSets().Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return set
}

// setLog changes the image of the container log.
func (c *cluster) setLog(image string) {
	c.T.Helper()
	c.Edit(`{"spec":{"containers":[{"name":"log","image":"` + image + `"}]}}`)
}
