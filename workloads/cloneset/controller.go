package cloneset

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Controller keeps CloneSets as their specs say. New makes one.
type Controller struct {
	// Reconciler makes the passes; exported for tools that ask what the next
	// pass would do.
	Reconciler *Reconciler

	loop *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := caches.CheckVersions(); err != nil {
		return nil, fmt.Errorf("cloneset: %w", err)
	}
	in := informersOf(&o)
	for _, informer := range []cache.SharedIndexInformer{o.Pods, o.Claims, o.Revisions} {
		if err := caches.AddOwnerIndex(informer); err != nil {
			return nil, fmt.Errorf("cloneset: %w", err)
		}
	}
	o.Reader = newInformerReader(&o)
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	c := &Controller{Reconciler: r, loop: controller.NewLoop(controller.Config{
		Name: "cloneset-controller", Workers: o.Workers, Reconcile: r.Reconcile,
		Informers: in.Own, Synced: in.Synced,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})}
	return c, c.watch(&o)
}

// informersOf makes the informers that the caller does not share.
func informersOf(o *Options) *caches.Informers {
	in := caches.NewInformers(o.Kubernetes, o.Namespace)
	o.CloneSets = in.Or(o.CloneSets, func() cache.SharedIndexInformer {
		return client.NewCloneSetInformer(o.Workloads, o.Namespace, 0, cache.Indexers{})
	})
	o.Pods, o.Claims, o.Revisions = in.Pods(o.Pods), in.Claims(o.Claims), in.Revisions(o.Revisions)
	if !o.NoNodes {
		o.Nodes = in.Nodes(o.Nodes)
	}
	return in
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// watch has a pass made over a CloneSet whenever something changes that its
// plan depends on.
func (c *Controller) watch(o *Options) error {
	var errs []error
	handle := func(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
		_, err := informer.AddEventHandler(handler)
		errs = append(errs, err)
	}
	owners := controller.Owners(v1alpha1.SchemeGroupVersion.WithKind("CloneSet").GroupKind())
	handle(o.CloneSets, controller.OfWorkloads(c.loop.Add,
		func(set *v1alpha1.CloneSet) any { return &set.Status }, c.Reconciler.writer.WroteStatus))
	handle(o.Pods, controller.OfOwned(c.enqueueOwner, owners, controller.PodChanged))
	handle(o.Claims, controller.OfOwned(c.enqueueOwner, owners, controller.ClaimChanged))
	handle(o.Revisions, controller.OfOwned(c.enqueueOwner, owners, controller.RevisionChanged))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cloneset: watch: %w", err)
	}
	return nil
}

// enqueueOwner asks for a pass over a CloneSet once the events about what it
// owns have been collected.
func (c *Controller) enqueueOwner(owner types.NamespacedName) {
	c.loop.AddAfter(owner, c.Reconciler.passes.SettleTime(owner))
}
