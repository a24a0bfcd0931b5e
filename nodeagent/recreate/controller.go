// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// Controller recreates the containers of a node that ContainerRecreateRequests
// name. New makes one. When Run ends, a container that is being stopped is left to the runtime.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles pods for which there are requests, in two ways, for two queues. Reconcile works on a request, and
// takes as long as a container needs to end. Answer has others say that they must wait, and takes milliseconds. A
// Reconciler is safe for use by several goroutines, as long as each of the two runs for a pod once at a time.
// NewReconciler makes one.
type Reconciler struct {
	podwright.Reconciler[Snapshot, Plan]
	self *reconciler
}

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queues, and it reads what Options.Reader returns.
func NewReconciler(o Options) (*Reconciler, error) {
	workers := o.Workers
	r, err := controller.NewReconciler(o.setup())
	if err != nil {
		return nil, err
	}
	self := controller.KindOf(r).Self.(*reconciler)
	self.shares.Workers = workers
	return &Reconciler{r, self}, nil
}

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "recreate", Objects: "pods", Component: EventSource, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: 32,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
