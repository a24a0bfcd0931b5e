// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = v1alpha1.WorkloadSpreadEventSource

// Controller keeps the status of WorkloadSpreads. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles WorkloadSpreads. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads. A reconcile is due
// when the WorkloadSpread changes, and when one of its pods or its workload appears, changes or goes.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "workloadspread", Objects: "WorkloadSpreads", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
