// SPDX-License-Identifier: Apache-2.0

package image

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
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
// one. A reconcile takes milliseconds; the pulls that it starts go on by themselves. When Run
// ends, pulls that are under way are cancelled; the next agent starts them again.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles the NodeImage of a node; keys have no namespace. One goroutine at a time
// calls it. NewReconciler makes one, and Close ends what it has started.
type Reconciler struct {
	podwright.Reconciler[Snapshot, Plan]
	pulls *pulls
}

// Close cancels the pulls that are under way and waits for them to end. Reconcile
// must not be called afterwards.
func (r *Reconciler) Close() { r.pulls.close() }

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) {
	s := o.setup()
	s.Check = func(c *controller.Checks) {
		o.check(c)
		c.That(o.Node != "", "Options.Node is empty: it names the node for which to pull")
	}
	return controller.New(s)
}

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queue, and it reads what Options.Reader returns.
func NewReconciler(o Options) (*Reconciler, error) {
	s := o.setup()
	s.Check = func(c *controller.Checks) {
		o.check(c)
		c.That(o.Wake != nil, "Options.Wake is nil: a Reconciler calls it when a pull has ended")
	}
	r, err := controller.NewReconciler(s)
	if err != nil {
		return nil, err
	}
	return &Reconciler{r, controller.KindOf(r).Self.(*reconciler).pulls}, nil
}

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	o.Workers = min(o.Workers, 1) // there is one object
	return controller.Setup[Snapshot, Plan]{
		Package: "image", Objects: "NodeImages", Component: EventSource, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: 1,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}

func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: resourceNodeImages, Object: &v1alpha1.NodeImage{}, LiveReader: apiwriter.TypedCluster(o.Distribution.NodeImages),
		Informer: &o.NodeImages, MakeInformer: func() cache.SharedIndexInformer { return NewInformer(o.Distribution, o.Node) }, Selects: true,
		Fields: controller.Generation | controller.Status, Concern: o.concern,
	}}
}

// NewInformer makes an informer of one NodeImage, that of a node. (IMG-3.1)
func NewInformer(c client.Interface, node string) cache.SharedIndexInformer {
	return client.NewFilteredNodeImageInformer(c, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", node).String()
	})
}

// concern enqueues the NodeImage of the node. Labels change no plan.
func (o *Options) concern(e controller.Event, enqueue controller.Enqueue) {
	if e.Key().Name == o.Node { // an informer that is shared may know others
		enqueue(e.Key())
	}
}
