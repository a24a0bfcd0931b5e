// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = "ephemeraljob-controller"

// Controller manages EphemeralJobs. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles EphemeralJobs. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
//
// A reconcile is due when an EphemeralJob changes. It is also due when a pod that it selects, or did
// before, appears, goes, ends, changes its labels, or changes in its ephemeral containers.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "ephemeraljob", Objects: "EphemeralJobs", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: defaultWorkers,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
