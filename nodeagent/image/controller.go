// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
)

// settleTime is how long to collect the ends of attempts.
const settleTime = 100 * time.Millisecond

// The back-off of reconciles that fail. (IMG-3.4)
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 50 * time.Second
)

// Controller pulls the images that the NodeImage of a node asks for. New makes
// one.
type Controller struct {
	// Reconciler reconciles the NodeImage; exported for tools that ask what it would do.
	Reconciler *Reconciler

	loop *controller.Loop
	node string
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Node == "" {
		return nil, errors.New("image: Options.Node is empty: it names the node for which to pull")
	}
	o.Workers = 1 // there is one object
	c := &Controller{node: o.Node}
	sources, err := controller.Open("image", []controller.Read{{
		Resource: ResourceNodeImages, Live: apiwriter.TypedCluster(o.Distribution.NodeImages),
		Informer: &o.NodeImages, Make: func() cache.SharedIndexInformer { return NewInformer(o.Distribution, o.Node) },
		Fields: controller.Generation | controller.Status, Concern: c.concern,
	}})
	if err != nil {
		return nil, err
	}
	o.Reader = newInformerReader(o.NodeImages)
	o.Wake = func(key types.NamespacedName) { c.loop.AddAfter(key, settleTime) }
	if c.Reconciler, err = NewReconciler(o); err != nil {
		return nil, err
	}
	c.loop = sources.Loop(controller.Config{
		Name: "image_puller", Reconcile: c.Reconciler.Reconcile, FirstRetry: firstBackOff, LastRetry: lastBackOff,
		ControllerOptions: o.ControllerOptions,
	})
	return c, sources.Subscribe(c.loop.Add, nil, nil)
}

// NewInformer makes an informer of one NodeImage, that of a node. (IMG-3.1)
func NewInformer(c client.Interface, node string) cache.SharedIndexInformer {
	return client.NewFilteredNodeImageInformer(c, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", node).String()
	})
}

// Run pulls until the context is done, and waits for everything it has started.
// Pulls that are under way then are cancelled; the next agent starts them again.
// Run runs the informer that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error {
	defer c.Reconciler.Close()
	return c.loop.Run(ctx)
}

// concern enqueues the NodeImage of the node. Labels change no plan.
func (c *Controller) concern(e controller.Event, enqueue controller.Enqueue) {
	if e.Key().Name == c.node { // an informer that is shared may know others
		enqueue(e.Key())
	}
}
