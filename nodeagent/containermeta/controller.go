// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
)

// settleTime is how long to collect the events about a pod before it is looked
// at: containers start one after the other.
const settleTime = time.Second

// The back-off of a pod whose reconciles fail. There are no conflicts that another try
// would solve at once; but a runtime that was restarted is asked again soon.
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 50 * time.Second
)

// Controller reports the containers of a node, and restarts those with an
// outdated environment. New makes one.
type Controller struct {
	// Reconciler reconciles pods; exported for tools that ask what it would do.
	Reconciler *Reconciler

	reports, restarts *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	c := &Controller{}
	sources, err := controller.Open("containermeta", []controller.Read{{
		Resource: ResourcePods, Live: apiwriter.Pods(o.Kubernetes),
		Informer: &o.Pods, Make: func() cache.SharedIndexInformer { return nodeagent.NewPodInformer(o.Kubernetes, o.Node) },
		Fields: controller.Everything, Concern: c.concern(o.Features),
	}})
	if err != nil {
		return nil, err
	}
	o.Reader = newInformerReader(o.Pods)
	if o.Workers == 0 {
		o.Workers = 5
	}
	if o.RestartWorkers == 0 {
		o.RestartWorkers = 10
	}
	if c.Reconciler, err = NewReconciler(o); err != nil {
		return nil, err
	}
	config := controller.Config{
		Name: "runtime_container_meta", Reconcile: c.Reconciler.Reconcile, FirstRetry: firstBackOff, LastRetry: lastBackOff,
		ControllerOptions: o.ControllerOptions,
	}
	c.reports = sources.Loop(config)
	config.Name, config.Reconcile, config.Workers = "runtime_container_meta_restarter", c.Reconciler.Restart, o.RestartWorkers
	c.restarts = sources.Loop(config)
	return c, sources.Subscribe(nil, nil, nil)
}

// Run reports and restarts until the context is done, and waits for everything
// it has started. A container that is being stopped is left to the runtime. Run
// runs the informer that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error {
	var restarting sync.WaitGroup
	var err error
	restarting.Go(func() { err = c.restarts.Run(ctx) })
	reports := c.reports.Run(ctx)
	restarting.Wait()
	return errors.Join(reports, err)
}

// concern enqueues a pod where it shows that there is something to do, so that all
// other changes of pods cost nothing.
//
// When the agent starts, pods without an annotation are left alone until they
// change (CM-2), which spares the API server a write per pod; but not those that
// wait for the annotation, in the middle of an in-place update.
func (c *Controller) concern(features Features) controller.Concern {
	return func(e controller.Event, _ controller.Enqueue) {
		pod, _ := e.After.(*corev1.Pod)
		if pod == nil { // it is gone
			c.reports.Add(e.Key())
			c.restarts.Add(e.Key())
			return
		}
		if _, reported := pod.Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation]; e.Initial && !reported && !updating(pod) {
			return
		}
		if reportDue(pod, features) {
			c.reports.AddAfter(e.Key(), settleTime)
		}
		if restartDue(pod, features) {
			c.restarts.Add(e.Key())
		}
	}
}
