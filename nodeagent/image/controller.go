// SPDX-License-Identifier: Apache-2.0

package image

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// Controller pulls the images that the NodeImage of a node asks for. New makes
// one. A reconcile takes milliseconds; the pulls that it starts go on by themselves. When Run
// ends, pulls that are under way are cancelled; the next agent starts them again.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles the NodeImage of a node; keys have no namespace. One goroutine at a time
// calls it. NewReconciler makes one, and Close ends what it has started.
type Reconciler struct {
	podwright.Reconciler[Snapshot, Plan]
	close func()
}

// Close cancels the pulls that are under way and waits for them to end. Reconcile must not be called afterwards.
func (r *Reconciler) Close() { r.close() }

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queue, and it reads what Options.Reader returns.
func NewReconciler(o Options) (*Reconciler, error) {
	r, err := controller.NewReconciler(o.setup())
	if err != nil {
		return nil, err
	}
	return &Reconciler{r, controller.KindOf(r).Close}, nil
}

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	o.Workers = min(o.Workers, 1) // there is one object
	return controller.Setup[Snapshot, Plan]{
		Package: "image", Objects: "NodeImages", Component: EventSource, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: 1,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
