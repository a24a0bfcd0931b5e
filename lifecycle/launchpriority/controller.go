// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = "container-launch-priority-controller"

// Controller starts the containers of pods in order. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles pods. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
//
// A reconcile is due when a pod appears. It is also due when the readiness of its containers or
// the reason for which one of them waits has changed.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "launchpriority", Objects: "pods", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: 4,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
