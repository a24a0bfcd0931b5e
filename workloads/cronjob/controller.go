// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = "advancedcronjob-controller"

// Controller manages AdvancedCronJobs. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles cron jobs. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
//
// A reconcile is due when a cron job changes, when one of its jobs appears, ends or
// goes, and after the time that Reconcile returns.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "cronjob", Objects: "cron jobs", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: workers,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
