// SPDX-License-Identifier: Apache-2.0

package image

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
)

// Controller pulls the images that the NodeImage of a node asks for. New makes one. Reconciles start pulls, and do not
// wait for them. When Run ends, it cancels the pulls that are under way; the next agent starts them again.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles the NodeImage of a node; keys have no namespace. One goroutine at a time calls it, and Close ends what
// it has started. NewReconciler makes one.
type Reconciler = nodeagent.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewClosing(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	o.Workers = min(o.Workers, 1) // there is one object
	return controller.Setup[Snapshot, Plan]{
		Package: "image", Objects: "NodeImages", Component: EventSource, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: 1,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
