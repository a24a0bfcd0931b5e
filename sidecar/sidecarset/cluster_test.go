// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"testing"
	"testing/synctest"
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
	fixture.Play(t, setResource, func(f *fixture.Cluster) {
		c.Cluster = f
		c.options = options(f, f.Add)
		sources, err := controller.Open("sidecarset", c.options.reads()) // for the indexes
		c.Must(err)
		c.options.Reader = sources.Caches()
		c.restart()
		c.Unfinished = func() string {
			plan, err := c.reconciler.Plan(context.Background(), types.NamespacedName{Name: "web"})
			c.Must(err)
			if plan == nil || !acts(plan) {
				return ""
			}
			return plan.String()
		}
	}, func(t *testing.T) {
		prepare(c.Cluster)
		synctest.Wait()
		story(t, c)
	}, namespaceResource)
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

var twenty = func() (names []string) {
	for i := range 20 {
		names = append(names, "web-"+string(rune('a'+i)))
	}
	return names
}()

const hotLog = `containers: [{name: log, image: "log:1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "empty:1"}}]
updateStrategy: {maxUnavailable: "100%"}`
