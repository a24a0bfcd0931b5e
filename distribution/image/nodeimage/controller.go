// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
)

// Controller manages NodeImages. New makes one.
type Controller struct {
	// Reconciler reconciles nodes and their NodeImages, which have the same name; exported for tools that ask what it would do.
	Reconciler *Reconciler
	loop       *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	sources, err := controller.Open("nodeimage", reads(&o)...)
	if err != nil {
		return nil, err
	}
	o.Reader = newInformerReader(&o)
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	loop, err := r.shell.Loop(sources)
	return &Controller{Reconciler: r, loop: loop}, err
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// Reconciler reconciles nodes and their NodeImages, which have the same name: it observes the caches, plans, and applies the
// plan. It is safe for use by several goroutines, as long as one node is
// reconciled by one of them at a time.
type Reconciler struct {
	distribution client.Interface
	kubernetes   kubernetes.Interface
	reader       Reader
	timing       Timing
	recorder     record.EventRecorder
	writer       *apply.Writer
	gone         *goneJobs
	pullPods     *PullPods // nil: agents pull
	puller       puller
	shell        *controller.Reconciler[Snapshot, Plan]
}

// NewReconciler returns a Reconciler for use in another framework: the caller
// calls Reconcile, and it reads what Options.Reader returns. For a controller that
// runs by itself, see New.
func NewReconciler(o Options) (*Reconciler, error) {
	if err := controller.CheckReader("nodeimage", o.Reader != nil, o.validate()); err != nil {
		return nil, err
	}
	r := &Reconciler{
		distribution: o.Distribution, kubernetes: o.Kubernetes, reader: o.Reader,
		timing: o.Timing, recorder: o.Recorder, writer: newWriter(&o), gone: newGoneJobs(), pullPods: o.PullPods,
	}
	r.puller.own = &r.writer.Own
	if o.PullPods != nil {
		r.puller.pods = apiwriter.Pods(o.Kubernetes)
	}
	r.shell = controller.NewReconciler(r.kind(&o))
	return r, nil
}

// Reconcile reconciles a node once; the key has no namespace. It asks to be called
// again after a time (0: only when something changes), or returns an error and
// wants to be called again after a back-off. It does nothing while the caches have not seen what it
// wrote before.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.shell.Reconcile(ctx, key)
}

// Snapshot returns what a plan depends on now; nil when there is neither the node nor a NodeImage.
// Its objects are shared with the caches: replace them by changed copies to ask
// NewPlan what would happen if.
func (r *Reconciler) Snapshot(key types.NamespacedName) (*Snapshot, error) {
	return r.observe(context.Background(), key)
}

// Plan returns what the next Reconcile of a node would do, without doing it;
// nil when there is neither the node nor a NodeImage of its name.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) {
	return r.shell.Next(context.Background(), key)
}
