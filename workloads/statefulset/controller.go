// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podplan"
)

// component is the controller's name, in events too.
const component = "statefulset-controller"

// Controller manages StatefulSets. New makes one.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles StatefulSets. NewReconciler makes one.
type Reconciler = podwright.Reconciler[Snapshot, Plan]

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework, on the caches that Options.Reader reads.
func NewReconciler(o Options) (Reconciler, error) { return controller.NewReconciler(o.setup()) }

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "statefulset", Objects: "StatefulSets", Component: component, Options: &o.ControllerOptions, Recorder: &o.Recorder,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}

// forget drops what is remembered of a StatefulSet that is gone.
func (r *reconciler) forget(key types.NamespacedName) {
	r.places.Forget(key)
	r.kept.Forget(key)
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	places  podplan.BackOff
	kept    apiwriter.Last[map[string]string] // the sizes of claim templates for which it was told which claims stay larger
}
