// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// component is the controller's name, in events too.
const component = v1alpha1.SidecarTerminatorEventSource

// Controller terminates the sidecars of pods whose main containers have finished. New
// makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles pods. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
//
// A reconcile is due when the phase of a pod, an image, the status of a container, or the condition
// ContainersReady or SidecarTerminated changes. It is also due when the pod is deleted, and when a
// ContainerRecreateRequest that the pod controls is created, is completed or is deleted.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "terminator", Objects: "pods", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}
