// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = "uniteddeployment-controller"

// Controller manages UnitedDeployments. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles UnitedDeployments. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads. A reconcile is due
// when a UnitedDeployment changes, one of its workloads, revisions or pods, or a workload of no controller that it selects.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "uniteddeployment", Objects: "UnitedDeployments", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
