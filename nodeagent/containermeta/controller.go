// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"cmp"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// Controller reports the containers of a node, and restarts those with an outdated environment. New makes one. When Run
// ends, a container that is being stopped is left to the runtime.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles pods in three ways, for three queues. Reconcile reports, and takes milliseconds. Restart stops
// containers, and takes as long as they need to end. Tell says whom restarts wait for. A Reconciler is safe for use by
// several goroutines, as long as each of the three runs for a pod once at a time. NewReconciler makes one.
type Reconciler struct {
	podwright.Reconciler[Snapshot, Plan]
	self *reconciler
}

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) {
	o.RestartWorkers = cmp.Or(o.RestartWorkers, 10)
	return controller.New(o.setup())
}

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queues, and it reads what Options.Reader returns.
func NewReconciler(o Options) (*Reconciler, error) {
	r, err := controller.NewReconciler(o.setup())
	if err != nil {
		return nil, err
	}
	return &Reconciler{r, controller.KindOf(r).Self.(*reconciler)}, nil
}

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "containermeta", Objects: "pods", Component: EventSource, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: 5,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
