// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// cluster is a fake cluster with CloneSets.
type cluster struct {
	*fixture.Cluster
	sets       client.CloneSetInterface // the test's
	options    Options                  // for a controller that shares the informers
	reconciler Reconciler
}

var (
	web       = fixture.Web
	cloneSets = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets")
)

// inCluster plays a story with CloneSets.
func inCluster(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	c := &cluster{}
	fixture.Play(t, cloneSets, func(s *fixture.Cluster) {
		c.Cluster = s
		c.setUp()
	}, func(t *testing.T) { story(t, c) })
}

func (c *cluster) setUp() {
	c.T.Helper()
	c.sets = c.workloads(fixture.TestUser).CloneSets(web.Namespace)
	workloads := c.workloads(fixture.ControllerUser)
	o := Options{
		Kubernetes: c.Client(fixture.ControllerUser), Workloads: workloads, NoNodes: true, ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of},
		CloneSets: c.Add(client.NewCloneSetInformer(workloads, "", 0, cache.Indexers{})),
		Pods:      c.PodInformer(), Claims: c.ClaimInformer(), Revisions: c.RevisionInformer(),
	}
	o.Reader = controller.Caches(o.reads())
	c.options = o
	c.restart()
	c.Unfinished = c.unfinished
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

// start runs a controller that shares the informers. The function it returns
// stops the controller and waits for it.
func (c *cluster) start(edit ...func(*Options)) (reconciles *fixture.Reconciles, stop func()) {
	c.T.Helper()
	reconciles = &fixture.Reconciles{}
	o := c.options
	o.Reader, o.Metrics = nil, reconciles
	return reconciles, fixture.StartNew(c.Cluster, New, o, edit...)
}

// unfinished shows what the next reconcile would do.
func (c *cluster) unfinished() string {
	c.T.Helper()
	left, err := unfinished(c.reconciler, web)
	c.Must(err)
	return left
}

// unfinished shows what the next reconcile of a reconciler would do.
func unfinished(r Reconciler, key types.NamespacedName) (string, error) {
	plan, err := r.Plan(context.Background(), key)
	if plan == nil || err != nil || !acts(plan) {
		return "", err
	}
	return fmt.Sprintf("%+v", plan), nil
}

// create makes the CloneSet web of one container, changed by a merge patch.
func (c *cluster) create(replicas int32, patch string) {
	c.T.Helper()
	c.Create(testSet(replicas), patch)
}

func testSet(replicas int32) *v1alpha1.CloneSet {
	return &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
			},
		},
	}
}

func (c *cluster) get() *v1alpha1.CloneSet {
	c.T.Helper()
	set, err := c.sets.Get(c.T.Context(), web.Name, metav1.GetOptions{})
	c.Must(err)
	return set
}
