// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = "eviction-responder"

// Controller responds to Evictions. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles Evictions. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
//
// A reconcile is due when the Eviction changes. While it is this responder's turn, one is also due
// when its pod or their CloneSet changes. So it is when another pod of the same workload appears,
// goes, or becomes available or unavailable.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "evictionresponder", Objects: "Evictions", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
