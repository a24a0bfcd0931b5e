package imagepulljob

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/consistency"
	"github.com/podwright/podwright/internal/controller"
)

// Reconciler makes passes over ImagePullJobs: it observes the caches, plans, and
// carries the plan out. It is safe for use by several goroutines, as long as one
// job is reconciled by one of them at a time.
type Reconciler struct {
	distribution client.Interface
	reader       Reader
	clock        clock.PassiveClock
	writer       *apply.Writer
	passes       *controller.Passes[Snapshot, Plan]
	reported     consistency.Last[time.Time] // when the status was last written
}

// NewReconciler returns a Reconciler for use in another framework: its passes
// are started by the caller, and it reads what Options.Reader returns. For a
// controller that runs by itself, see New.
func NewReconciler(o Options) (*Reconciler, error) {
	if o.Reader == nil {
		return nil, errors.New("imagepulljob: Options.Reader is nil: a Reconciler reads the caller's caches through it; New makes a controller with caches of its own")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	r := &Reconciler{distribution: o.Distribution, reader: o.Reader, clock: o.Clock, writer: newWriter(&o)}
	r.passes = &controller.Passes[Snapshot, Plan]{
		Writer: r.writer, Seen: o.Reader.Seen, Clock: o.Clock,
		Reads: []Resource{ResourceImagePullJobs, ResourceNodeImages}, AllowStaleReads: o.AllowStaleReads,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Objects: func(*Snapshot) ([]*corev1.Pod, []*corev1.PersistentVolumeClaim) { return nil, nil }, // it writes none
	}
	return r, nil
}

// Reconcile makes one pass over a job. It asks for another one after a time (0:
// only when something changes), or returns an error and wants to be called again
// after a back-off. It does nothing while the caches have not seen what its
// earlier passes over the job wrote.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.passes.Reconcile(ctx, key)
}

// Plan returns what the next pass over a job would do, without doing it; nil
// when the job does not exist.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) { return r.passes.Next(key) }
