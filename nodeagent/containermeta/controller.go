package containermeta

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
)

// settleTime is how long to collect the events about a pod before it is looked
// at: containers start one after the other.
const settleTime = time.Second

// The back-off of a pod whose passes fail. There are no conflicts that another try
// would solve at once; but a runtime that was restarted is asked again soon.
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 50 * time.Second
)

// Controller reports the containers of a node, and restarts those with an
// outdated environment. New makes one.
type Controller struct {
	// Reconciler makes the passes; exported for tools that ask what the next
	// pass would do.
	Reconciler *Reconciler

	reports, restarts *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := caches.CheckVersions(); err != nil {
		return nil, fmt.Errorf("containermeta: %w", err)
	}
	in := caches.NewInformers(o.Kubernetes, "")
	o.Pods = in.Or(o.Pods, func() cache.SharedIndexInformer { return nodeagent.NewPodInformer(o.Kubernetes, o.Node) })
	o.Reader = newInformerReader(o.Pods)
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	if o.Workers == 0 {
		o.Workers = 5
	}
	if o.RestartWorkers == 0 {
		o.RestartWorkers = 10
	}
	c := &Controller{Reconciler: r}
	c.reports = controller.NewLoop(controller.Config{
		Name: "runtime_container_meta", Workers: o.Workers, Reconcile: r.Reconcile,
		Informers: in.Own, Synced: in.Synced, FirstRetry: firstBackOff, LastRetry: lastBackOff,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})
	c.restarts = controller.NewLoop(controller.Config{
		Name: "runtime_container_meta_restarter", Workers: o.RestartWorkers, Reconcile: r.Restart,
		Synced: in.Synced, FirstRetry: firstBackOff, LastRetry: lastBackOff,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})
	if _, err := o.Pods.AddEventHandler(c.handler(o.Features)); err != nil {
		return nil, fmt.Errorf("containermeta: watch: %w", err)
	}
	return c, nil
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

// handler asks for passes where a pod shows that there is something to do, so
// that all other changes of pods cost nothing.
//
// When the agent starts, pods without an annotation are left alone until they
// change (CM-2), which spares the API server a write per pod; but not those that
// wait for the annotation, in the middle of an in-place update.
func (c *Controller) handler(features Features) cache.ResourceEventHandler {
	enqueue := func(pod *corev1.Pod) {
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		if reportDue(pod, features) {
			c.reports.AddAfter(key, settleTime)
		}
		if restartDue(pod, features) {
			c.restarts.Add(key)
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			pod, ok := obj.(*corev1.Pod)
			if !ok {
				return
			}
			if _, reported := pod.Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation]; reported || !isInInitialList || updating(pod) {
				enqueue(pod)
			}
		},
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				enqueue(pod)
			}
		},
		DeleteFunc: func(obj any) {
			key, err := cache.DeletionHandlingObjectToName(obj)
			if err == nil {
				c.reports.Add(types.NamespacedName{Namespace: key.Namespace, Name: key.Name})
				c.restarts.Add(types.NamespacedName{Namespace: key.Namespace, Name: key.Name})
			}
		},
	}
}
