// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The back-off of a pod whose reconciles fail. A runtime that was restarted is asked
// again soon. (CRR-5.1)
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 50 * time.Second
)

// Controller recreates the containers of a node that ContainerRecreateRequests
// name. New makes one.
type Controller struct {
	// Reconciler reconciles pods; exported for tools that ask what it would do.
	Reconciler *Reconciler

	work, answers *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	c := &Controller{}
	sources, err := controller.Open("recreate", []controller.Read{{
		Resource: ResourceRequests, Live: apiwriter.Typed(o.Lifecycle.ContainerRecreateRequests),
		Informer: &o.Requests, Make: func() cache.SharedIndexInformer { return NewRequestInformer(o.Lifecycle, o.Node) },
		Fields: controller.Everything, Concern: c.concern,
	}})
	if err != nil {
		return nil, err
	}
	o.Reader = newInformerReader(o.Requests)
	if o.Workers == 0 {
		o.Workers = 32
	}
	if c.Reconciler, err = NewReconciler(o); err != nil {
		return nil, err
	}
	config := controller.Config{
		Name: "containerrecreaterequest", Reconcile: c.Reconciler.Reconcile, FirstRetry: firstBackOff, LastRetry: lastBackOff,
		ControllerOptions: o.ControllerOptions,
	}
	c.work = sources.Loop(config)
	config.Name, config.Reconcile, config.Workers = "containerrecreaterequest_answers", c.Reconciler.Answer, 0
	c.answers = sources.Loop(config)
	return c, sources.Subscribe(nil, nil, nil)
}

// Run works on requests until the context is done, and waits for everything it
// has started. A container that is being stopped is left to the runtime. Run runs
// the informer that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error {
	var answering sync.WaitGroup
	var err error
	answering.Go(func() { err = c.answers.Run(ctx) })
	work := c.work.Run(ctx)
	answering.Wait()
	return errors.Join(work, err)
}

// concern enqueues the pod of a request. Requests are few, and almost every change
// of one is a step of it.
func (c *Controller) concern(e controller.Event, _ controller.Enqueue) {
	request, ok := e.Object().(*v1alpha1.ContainerRecreateRequest)
	if !ok {
		return
	}
	pod := types.NamespacedName{Namespace: request.Namespace, Name: request.Spec.PodName}
	c.work.Add(pod)
	c.answers.Add(pod)
}
