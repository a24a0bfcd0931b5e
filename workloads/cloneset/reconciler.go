package cloneset

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
)

// Budget is asked before an update takes a pod out of service.
type Budget interface {
	// AllowUpdate tells whether the pod may become unavailable now. A refused
	// pod is asked about again a second later.
	AllowUpdate(ctx context.Context, pod *corev1.Pod) (bool, error)
}

// Reconciler makes passes over CloneSets: it observes the caches, plans, and
// carries the plan out. It is safe for use by several goroutines, as long as
// one CloneSet is reconciled by one of them at a time.
type Reconciler struct {
	workloads client.Interface
	reader    Reader
	jobs      workloads.ImagePullJobs
	budget    Budget
	clock     clock.PassiveClock
	features  Features
	writer    *apply.Writer
	passes    *controller.Passes[Snapshot, Plan]
}

// NewReconciler returns a Reconciler for use in another framework: its passes
// are started by the caller, and it reads what Options.Reader returns. For a
// controller that runs by itself, see New.
func NewReconciler(o Options) (*Reconciler, error) {
	if o.Reader == nil {
		return nil, errors.New("cloneset: Options.Reader is nil: a Reconciler reads the caller's caches through it; New makes a controller with caches of its own")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	r := &Reconciler{
		workloads: o.Workloads, reader: o.Reader, jobs: o.Jobs, budget: o.Budget,
		clock: o.Clock, features: o.Features, writer: newWriter(&o),
	}
	r.passes = &controller.Passes[Snapshot, Plan]{
		Writer: r.writer, Seen: o.Reader.Seen, Clock: o.Clock,
		Reads: []Resource{ResourceCloneSets, ResourcePods, ResourceClaims, ResourceRevisions}, AllowStaleReads: o.AllowStaleReads,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Objects: func(s *Snapshot) ([]*corev1.Pod, []*corev1.PersistentVolumeClaim) { return s.Pods, s.Claims },
	}
	return r, nil
}

// Reconcile makes one pass over a CloneSet. It asks for another one after a
// time (0: only when something changes), or returns an error and wants to be called again
// after a back-off. It does nothing while the caches have not seen what its
// earlier passes wrote.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.passes.Reconcile(ctx, key)
}

// Plan returns what the next pass over a CloneSet would do, without doing it;
// nil when the CloneSet does not exist.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) { return r.passes.Next(key) }
