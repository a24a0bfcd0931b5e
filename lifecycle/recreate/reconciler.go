package recreate

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
)

// Reconciler makes passes over ContainerRecreateRequests: it observes the
// caches, plans, and carries the plan out. It is safe for use by several
// goroutines, as long as one request is reconciled by one of them at a time.
type Reconciler struct {
	kubernetes kubernetes.Interface
	lifecycle  client.Interface
	reader     Reader
	clock      clock.PassiveClock
	writer     *apply.Writer
	running    running
	passes     *controller.Passes[Snapshot, Plan]
}

// NewReconciler returns a Reconciler for use in another framework: its passes
// are started by the caller, and it reads what Options.Reader returns. For a
// controller that runs by itself, see New.
//
// A pass is due when a request changes, and when its pod, which the label
// v1alpha1.ContainerRecreateRequestPodUIDLabel names, is deleted or changes in
// the status of its containers.
func NewReconciler(o Options) (*Reconciler, error) {
	if o.Reader == nil {
		return nil, errors.New("recreate: Options.Reader is nil: a Reconciler reads the caller's caches through it; New makes a controller with caches of its own")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	r := &Reconciler{kubernetes: o.Kubernetes, lifecycle: o.Lifecycle, reader: o.Reader, clock: o.Clock, writer: newWriter(&o)}
	r.passes = &controller.Passes[Snapshot, Plan]{
		Writer: r.writer, Seen: o.Reader.Seen, Clock: o.Clock,
		Reads: []Resource{ResourceRequests, ResourcePods}, AllowStaleReads: o.AllowStaleReads,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Objects: func(s *Snapshot) ([]*corev1.Pod, []*corev1.PersistentVolumeClaim) {
			if s.Pod == nil {
				return nil, nil
			}
			return []*corev1.Pod{s.Pod}, nil
		},
	}
	return r, nil
}

// Reconcile makes one pass over a request. It asks for another one after a time
// (0: only when something changes), or returns an error and wants to be called
// again after a back-off. It does nothing while the caches have not seen what
// its earlier passes wrote.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.passes.Reconcile(ctx, key)
}

// Plan returns what the next pass over a request would do, without doing it;
// nil when the request does not exist. See Plan.Confirm for what a pass does
// beside.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) { return r.passes.Next(key) }
