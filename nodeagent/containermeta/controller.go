// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
)

// settleTime is how long to collect the events about a pod before it is looked
// at: containers start one after the other.
const settleTime = time.Second

// The back-off of a pod whose reconciles fail. There are no conflicts that another try
// would solve at once; but a runtime that was restarted is asked again soon.
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 50 * time.Second
)

// Controller reports the containers of a node, and restarts those with an
// outdated environment. New makes one. When Run ends, a container that is being stopped is left
// to the runtime.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles pods, in three ways, for three queues: Reconcile reports, and
// takes milliseconds; Restart stops containers, and takes as long as they need to
// end; Tell says whom restarts wait for. It is safe for use by several goroutines, as long as each of them runs for
// a pod once at a time. NewReconciler makes one.
type Reconciler struct {
	podwright.Reconciler[Snapshot, Plan]
	self *reconciler
}

// Restart reconciles a pod once: it stops the containers whose environment is
// outdated, when it is time to. It returns what Reconcile returns. An error also
// says that a container may not have stopped, which is tried again later.
func (r *Reconciler) Restart(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.self.restart(ctx, key)
}

// Tell reconciles a pod once. If its restart has waited for 10 s until Restart can run, an event of the pod says whose containers
// are being stopped. It takes milliseconds, and returns what Reconcile returns. Without it Restart itself says
// so, but not of pods that stand in its queue.
func (r *Reconciler) Tell(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.self.tell(ctx, key)
}

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) {
	if o.RestartWorkers == 0 {
		o.RestartWorkers = 10
	}
	return controller.New(o.setup())
}

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queues, and it reads what Options.Reader returns.
func NewReconciler(o Options) (*Reconciler, error) {
	r, err := controller.NewReconciler(o.setup())
	if err != nil {
		return nil, err
	}
	return &Reconciler{r, controller.KindOf(r).Self.(*reconciler)}, nil
}

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	return controller.Setup[Snapshot, Plan]{
		Package: "containermeta", Objects: "pods", Component: EventSource, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: 5,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}

func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: resourcePods, Object: &corev1.Pod{}, LiveReader: apiwriter.Pods(o.Kubernetes),
		Informer: &o.Pods, MakeInformer: func() cache.SharedIndexInformer { return nodeagent.NewPodInformer(o.Kubernetes, o.Node) }, Selects: true,
		Fields: controller.Everything, Concern: o.toReport, CollectEvents: true,
	}}
}

// toReport enqueues a pod that shows that there is something to report, so that all
// other changes of pods cost nothing.
//
// When the agent starts, pods without an annotation are left alone until they
// change (CM-2), which spares the API server a write per pod; but not those that
// wait for the annotation, in the middle of an in-place update.
func (o *Options) toReport(e controller.Event, enqueue controller.Enqueue) {
	if pod := o.worked(e, enqueue); pod != nil && reportDue(pod, o.Features) {
		enqueue(e.Key())
	}
}

// toRestart does the same for restarts.
func (o *Options) toRestart(e controller.Event, enqueue controller.Enqueue) {
	if pod := o.worked(e, enqueue); pod != nil && restartDue(pod, o.Features) {
		enqueue(e.Key())
	}
}

// worked returns the pod of an event; nil if it is left alone. One that is gone is enqueued, to be forgotten.
func (o *Options) worked(e controller.Event, enqueue controller.Enqueue) *corev1.Pod {
	pod, _ := e.After.(*corev1.Pod)
	if pod == nil {
		enqueue(e.Key())
		return nil
	}
	if _, reported := pod.Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation]; e.Initial && !reported && !updating(pod) {
		return nil
	}
	return pod
}
