package image

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
)

// settleTime is how long to collect the ends of attempts before a pass.
const settleTime = 100 * time.Millisecond

// The back-off of passes that fail. (IMG-3.4)
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 50 * time.Second
)

// Controller pulls the images that the NodeImage of a node asks for. New makes
// one.
type Controller struct {
	// Reconciler makes the passes; exported for tools that ask what the next
	// pass would do.
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
	if err := caches.CheckVersions(); err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	in := caches.NewInformers(o.Kubernetes, "")
	o.NodeImages = in.Or(o.NodeImages, func() cache.SharedIndexInformer { return NewInformer(o.Distribution, o.Node) })
	o.Reader = newInformerReader(o.NodeImages)
	c := &Controller{node: o.Node}
	o.Wake = func(key types.NamespacedName) { c.loop.AddAfter(key, settleTime) }
	var err error
	if c.Reconciler, err = NewReconciler(o); err != nil {
		return nil, err
	}
	c.loop = controller.NewLoop(controller.Config{
		Name: "image_puller", Workers: 1, Reconcile: c.Reconciler.Reconcile,
		Informers: in.Own, Synced: in.Synced, FirstRetry: firstBackOff, LastRetry: lastBackOff,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})
	if _, err := o.NodeImages.AddEventHandler(controller.OfAny(true, c.changed)); err != nil {
		return nil, fmt.Errorf("image: watch: %w", err)
	}
	return c, nil
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

// changed has a pass made when the tasks or what is reported of them change;
// before or after may be nil. Labels change no plan.
func (c *Controller) changed(before, after *v1alpha1.NodeImage) {
	name := types.NamespacedName{}
	switch {
	case after == nil:
		name.Name = before.Name
	case before == nil || before.UID != after.UID || before.Generation != after.Generation ||
		!equality.Semantic.DeepEqual(&before.Status, &after.Status):
		name.Name = after.Name
	}
	if name.Name == c.node { // an informer that is shared may know others
		c.loop.Add(name)
	}
}
