package nodeimage

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
)

// Controller keeps NodeImages. New makes one.
type Controller struct {
	// Reconciler makes the passes; exported for tools that ask what the next
	// pass would do.
	Reconciler *Reconciler

	loop       *controller.Loop
	nodeImages cache.Indexer
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := caches.CheckVersions(); err != nil {
		return nil, fmt.Errorf("nodeimage: %w", err)
	}
	in := informersOf(&o)
	if err := caches.AddTaskOwnerIndex(o.NodeImages); err != nil {
		return nil, fmt.Errorf("nodeimage: %w", err)
	}
	o.Reader = newInformerReader(&o)
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	c := &Controller{Reconciler: r, nodeImages: o.NodeImages.GetIndexer(), loop: controller.NewLoop(controller.Config{
		Name: "nodeimage-controller", Workers: o.Workers, Reconcile: r.Reconcile,
		Informers: in.Own, Synced: in.Synced,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})}
	return c, c.watch(&o)
}

// informersOf makes the informers that the caller does not share.
func informersOf(o *Options) *caches.Informers {
	in := caches.NewInformers(o.Kubernetes, "")
	o.NodeImages = in.Or(o.NodeImages, func() cache.SharedIndexInformer {
		return client.NewNodeImageInformer(o.Distribution, 0, cache.Indexers{})
	})
	o.ImagePullJobs = in.Or(o.ImagePullJobs, func() cache.SharedIndexInformer {
		return client.NewImagePullJobInformer(o.Distribution, "", 0, cache.Indexers{})
	})
	o.Nodes = in.Nodes(o.Nodes)
	return in
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// watch has a pass made over a node whenever something changes that its plan
// depends on.
func (c *Controller) watch(o *Options) error {
	_, nodes := o.Nodes.AddEventHandler(controller.OfAny(true, c.nodeChanged))
	_, nodeImages := o.NodeImages.AddEventHandler(controller.OfAny(true, c.nodeImageChanged))
	_, jobs := o.ImagePullJobs.AddEventHandler(controller.OfAny(false, c.jobChanged))
	if err := errors.Join(nodes, nodeImages, jobs); err != nil {
		return fmt.Errorf("nodeimage: watch: %w", err)
	}
	return nil
}

func (c *Controller) enqueue(node string) { c.loop.Add(types.NamespacedName{Name: node}) }
