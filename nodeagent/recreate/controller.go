// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The back-off of a pod whose reconciles fail. A runtime that was restarted is asked
// again soon. (CRR-5.1)
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 50 * time.Second
)

// Controller recreates the containers of a node that ContainerRecreateRequests
// name. New makes one. When Run ends, a container that is being stopped is left to the runtime.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles pods for which there are requests, in two ways, for two
// queues: Reconcile works on a request, and takes as long as a container needs to
// end. Answer has others say that they must wait, and takes milliseconds. It is
// safe for use by several goroutines, as long as each of the two runs for a pod
// once at a time. NewReconciler makes one.
type Reconciler struct {
	podwright.Reconciler[Snapshot, Plan]
	self *reconciler
}

// Answer reconciles a pod once, for the requests that must wait for another one, or
// for more than 10 s until Reconcile can run. They then say that they wait. If the
// request that Reconcile works on is completed or gone, it ends the wait for the
// container. It asks no runtime, and returns what Reconcile returns.
func (r *Reconciler) Answer(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.self.answerAll(ctx, key)
}

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) { return controller.New(o.setup()) }

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queues, and it reads what Options.Reader returns.
func NewReconciler(o Options) (*Reconciler, error) {
	workers := o.Workers
	r, err := controller.NewReconciler(o.setup())
	if err != nil {
		return nil, err
	}
	self := controller.KindOf(r).Self.(*reconciler)
	self.shares.Workers = workers
	return &Reconciler{r, self}, nil
}

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "recreate", Objects: "pods", Component: EventSource, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: 32,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}

func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: resourceRequests, Object: &v1alpha1.ContainerRecreateRequest{}, LiveReader: apiwriter.Typed(o.Lifecycle.ContainerRecreateRequests),
		Informer: &o.Requests, MakeInformer: func() cache.SharedIndexInformer { return NewRequestInformer(o.Lifecycle, o.Node) }, Selects: true,
		Fields: controller.Everything, Concern: ofPod,
	}}
}

// ofPod enqueues the pod of a request. Requests are few, and almost every change
// of one is a step of it.
func ofPod(e controller.Event, enqueue controller.Enqueue) {
	if request, ok := e.Object().(*v1alpha1.ContainerRecreateRequest); ok {
		enqueue(types.NamespacedName{Namespace: request.Namespace, Name: request.Spec.PodName})
	}
}
