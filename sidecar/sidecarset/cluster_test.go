// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	metrics    counted
	injector   *CachedInjector
	changes    int // of its expression
}

// setUp creates the namespaces, and makes a Reconciler.
func (c *cluster) setUp(f *fixture.Cluster) {
	c.Cluster = f
	prepare(f)
	c.options = options(f, f.Add)
	c.options.SetMetrics = &c.metrics
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
func (c *cluster) start() (reconciles *fixture.Reconciles, stop func()) {
	c.T.Helper()
	reconciles = &fixture.Reconciles{}
	o := c.options
	o.Reader, o.SidecarSets, o.Pods, o.Revisions, o.Namespaces, o.Metrics = nil, nil, nil, nil, nil, reconciles
	return reconciles, fixture.StartNew(c.Cluster, New, o)
}

func (c *cluster) get(name string) *v1alpha1.SidecarSet {
	c.T.Helper()
	set, err := connect(c.Cluster, fixture.TestUser).SidecarSets().Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return set
}

// createIn creates a pod in its namespace.
func (c *cluster) createIn(pod *corev1.Pod) {
	c.T.Helper()
	_, err := c.Kube.CoreV1().Pods(pod.Namespace).Create(c.T.Context(), pod, metav1.CreateOptions{})
	c.Must(err)
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
type counted struct {
	lock sync.Mutex
	last string
}

func (m *counted) Counted(set string, status *v1alpha1.SidecarSetStatus, notInjected int) {
	m.set(fmt.Sprintf("%s: %d matched, %d not injected", set, status.MatchedPods, notInjected))
}
func (m *counted) Gone(set string) { m.set(set + " is gone") }
func (m *counted) set(s string) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.last = s
}
func (m *counted) show() string {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.last
}
