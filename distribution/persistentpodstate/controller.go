// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = v1alpha1.PersistentPodStateEventSource

// Controller keeps the status of PersistentPodStates. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles PersistentPodStates. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
//
// A reconcile is due when the PersistentPodState changes, or when a pod of its workload appears, goes, gets a node or
// becomes ready or not. It is also due when the workload is scaled, annotated, appears or goes. It is due, too, when a
// node that podstate.Concerns names appears, goes or gets other labels. A workload that asks for a PersistentPodState
// has one due under its own name.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "persistentpodstate", Objects: "PersistentPodStates", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
