// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = "resourcedistribution-controller"

// Controller manages ResourceDistributions. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles ResourceDistributions. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
//
// A reconcile is due when a ResourceDistribution changes, and when what is in one of its copies
// changes or a copy goes. It is also due when a namespace appears, goes, begins to terminate or
// gets other labels (see targets.concern), and after the time that Reconcile returns.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "resource", Objects: "ResourceDistributions", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
