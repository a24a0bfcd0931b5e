// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var (
	web         = fixture.Web
	setResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind(kind), "daemonsets")
)

// cluster is a fake cluster with DaemonSets.
type cluster struct {
	*fixture.Cluster
	sets       client.DaemonSetInterface // the test's
	options    Options                   // for a controller that shares the informers
	reconciler Reconciler
}

// inCluster plays a story with DaemonSets.
func inCluster(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	c := &cluster{}
	fixture.Play(t, setResource, func(f *fixture.Cluster) {
		c.Cluster = f
		c.setUp()
	}, func(t *testing.T) { story(t, c) })
}

func (c *cluster) setUp() {
	c.T.Helper()
	c.sets = c.workloads(fixture.TestUser).DaemonSets(web.Namespace)
	workloads, kube := c.workloads(fixture.ControllerUser), c.Client(fixture.ControllerUser)
	o := Options{
		Kubernetes: kube, Workloads: workloads, ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of},
		DaemonSets: c.Add(client.NewDaemonSetInformer(workloads, "", 0, cache.Indexers{})),
		Pods:       c.PodInformer(), Revisions: c.RevisionInformer(),
		Nodes: c.Add(caches.NewInformers(kube, "").Nodes()),
	}
	o.Reader = controller.Caches(o.reads())
	c.options = o
	c.restart()
	c.Unfinished = func() string {
		left, err := unfinished(c.reconciler, web)
		c.Must(err)
		return left
	}
}

func (c *cluster) workloads(user string) client.Interface {
	c.T.Helper()
	return fixture.Connect(c.T, c.Server, user, client.NewForConfig)
}

// restart makes a Reconciler that remembers nothing.
func (c *cluster) restart() {
	c.T.Helper()
	r, err := NewReconciler(c.options)
	c.Must(err)
	c.reconciler, c.Reconcile = r, r.Reconcile
}

// start runs a controller with informers of its own. The function it returns stops
// the controller and waits for it.
func (c *cluster) start(edit ...func(*Options)) (reconciles *fixture.Reconciles, stop func()) {
	c.T.Helper()
	reconciles = &fixture.Reconciles{}
	o := c.options
	o.Reader, o.DaemonSets, o.Pods, o.Revisions, o.Nodes, o.Metrics = nil, nil, nil, nil, nil, reconciles
	return reconciles, fixture.StartNew(c.Cluster, New, o, edit...)
}

// acts tells whether a plan does anything at all.
func acts(plan *Plan) bool { return scenario.Acts(&plan.Plan) || plan.Status != nil }

// unfinished shows what the next reconcile of a reconciler would do.
func unfinished(r Reconciler, key types.NamespacedName) (string, error) {
	plan, err := r.Plan(context.Background(), key)
	if plan == nil || err != nil || !acts(plan) {
		return "", err
	}
	return plan.String(), nil
}

func testSet(name string) *v1alpha1.DaemonSet {
	set := newSet()
	set.Name, set.UID, set.Generation = name, "", 0
	set.Spec.Selector.MatchLabels["app"], set.Spec.Template.Labels["app"] = name, name
	set.Spec.Template.Spec.Containers[0].Image = "nginx:1"
	return set
}

func (c *cluster) get() *v1alpha1.DaemonSet {
	c.T.Helper()
	set, err := c.sets.Get(c.T.Context(), web.Name, metav1.GetOptions{})
	c.Must(err)
	return set
}

func nodeNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("n%d", i+1))
	}
	return names
}

func (c *cluster) addNodes(names ...string) {
	c.T.Helper()
	for _, name := range names {
		_, err := c.Kube.CoreV1().Nodes().Create(c.T.Context(), newNode(name), metav1.CreateOptions{})
		c.Must(err)
	}
	synctest.Wait()
}

// patchNode changes a node as its kubelet or a user does.
func (c *cluster) patchNode(name, patch string, subresources ...string) {
	c.T.Helper()
	_, err := c.Kube.CoreV1().Nodes().Patch(c.T.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	c.Must(err)
	synctest.Wait()
}

// outcome shows the pods and the status of a DaemonSet.
func (c *cluster) outcome(name string) string {
	c.T.Helper()
	var out []string
	for _, pod := range c.Pods() {
		if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Name == name {
			out = append(out, fmt.Sprint(scheduler.NodeOf(&pod), " ", pod.Spec.Containers[0].Image, " ", readiness.Ready(&pod)))
		}
	}
	slices.Sort(out)
	set, err := c.workloads(fixture.TestUser).DaemonSets(web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return strings.Join(append(out, showStatus(&set.Status), fmt.Sprint(set.Status.Conditions)), "\n")
}
