// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// component is the controller's name, in events too.
const component = "nodepodprobe-controller"

// Controller manages NodePodProbes. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles nodes. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
//
// A reconcile of a node is due when its NodePodProbe changes, or the node appears, goes or becomes ready. It is due when a pod on it
// appears, goes, is initialized or changes in its labels, annotations or conditions. And it is due when a PodProbeMarker changes that
// selects a pod on it.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "nodepodprobe", Objects: "nodes", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
