// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = v1alpha1.PubEventSource

// Controller keeps the status of PodUnavailableBudgets. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles budgets. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads. A reconcile is due
// when the budget changes, and when one of its pods, or of their workloads, appears, changes or goes.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "podunavailablebudget", Objects: "budgets", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
