package recreate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The back-off of a pod whose passes fail. A runtime that was restarted is asked
// again soon. (CRR-5.1)
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 50 * time.Second
)

// Controller recreates the containers of a node that ContainerRecreateRequests
// name. New makes one.
type Controller struct {
	// Reconciler makes the passes; exported for tools that ask what the next
	// pass would do.
	Reconciler *Reconciler

	work, answers *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := caches.CheckVersions(); err != nil {
		return nil, fmt.Errorf("recreate: %w", err)
	}
	in := caches.NewInformers(nil, "") // of requests only
	o.Requests = in.Or(o.Requests, func() cache.SharedIndexInformer { return NewRequestInformer(o.Lifecycle, o.Node) })
	o.Reader = newInformerReader(o.Requests)
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	if o.Workers == 0 {
		o.Workers = 32
	}
	c := &Controller{Reconciler: r}
	c.work = controller.NewLoop(controller.Config{
		Name: "containerrecreaterequest", Workers: o.Workers, Reconcile: r.Reconcile,
		Informers: in.Own, Synced: in.Synced, FirstRetry: firstBackOff, LastRetry: lastBackOff,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})
	c.answers = controller.NewLoop(controller.Config{
		Name: "containerrecreaterequest_answers", Reconcile: r.Answer,
		Synced: in.Synced, FirstRetry: firstBackOff, LastRetry: lastBackOff,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})
	if _, err := o.Requests.AddEventHandler(controller.OfAny(true, c.changed)); err != nil {
		return nil, fmt.Errorf("recreate: watch: %w", err)
	}
	return c, nil
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

// changed has passes made over the pod of a request. Requests are few, and almost
// every change of one is a step of it.
func (c *Controller) changed(before, after *v1alpha1.ContainerRecreateRequest) {
	request := after
	if request == nil {
		request = before
	}
	pod := types.NamespacedName{Namespace: request.Namespace, Name: request.Spec.PodName}
	c.work.Add(pod)
	c.answers.Add(pod)
}
