package cloneset

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/deletion"
	"github.com/podwright/podwright/internal/ownwrites"
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
	kubernetes kubernetes.Interface
	workloads  client.Interface
	reader     Reader
	jobs       ImagePullJobs
	budget     Budget
	clock      clock.PassiveClock
	recorder   record.EventRecorder
	features   Features
	writes     ownwrites.Tracker
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
	return &Reconciler{
		kubernetes: o.Kubernetes, workloads: o.Workloads, reader: o.Reader,
		jobs: o.Jobs, budget: o.Budget,
		clock: o.Clock, recorder: o.Recorder, features: o.Features,
	}, nil
}

const (
	// staleRetry is how soon a pass looks again whether the cache has caught
	// up with its own writes. The look costs no request.
	staleRetry = 20 * time.Millisecond
	// budgetRetry is how soon a refused update is asked about again.
	budgetRetry = time.Second
)

// Reconcile makes one pass over a CloneSet. It asks for another one after a
// time (0: only when something changes), or returns an error and wants to be called again
// after a back-off. It does nothing while the caches have not seen what its
// earlier passes wrote.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	if pending := r.writes.Pending(key, r.reader.Seen); pending != "" {
		klog.FromContext(ctx).V(4).Info("Waiting for the cache", "reason", pending)
		return staleRetry, nil
	}
	snapshot, err := r.observe(key)
	if err != nil {
		return 0, err
	}
	if snapshot == nil {
		r.writes.Forget(key)
		return 0, nil
	}
	plan := NewPlan(snapshot)
	return r.apply(ctx, snapshot, plan)
}

// Plan returns what the next pass over a CloneSet would do, without doing it;
// nil when the CloneSet does not exist.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) {
	snapshot, err := r.observe(key)
	if snapshot == nil || err != nil {
		return nil, err
	}
	return NewPlan(snapshot), nil
}

// deletePod deletes a pod and returns the resourceVersion of its deletion.
func (r *Reconciler) deletePod(ctx context.Context, pod *corev1.Pod) (string, error) {
	return deletion.Delete(ctx, r.kubernetes.CoreV1().RESTClient(), "pods", pod, &corev1.Pod{})
}

func (r *Reconciler) deletePVC(ctx context.Context, claim *corev1.PersistentVolumeClaim) (string, error) {
	return deletion.Delete(ctx, r.kubernetes.CoreV1().RESTClient(), "persistentvolumeclaims", claim, &corev1.PersistentVolumeClaim{})
}

// budgetGate asks the budget about pods, until it has refused one.
type budgetGate struct {
	budget  Budget
	refused atomic.Bool
}

// allow tells whether a pod may be updated.
func (g *budgetGate) allow(ctx context.Context, pod *corev1.Pod) (bool, error) {
	if g.budget == nil {
		return true, nil
	}
	if g.refused.Load() {
		return false, nil
	}
	allowed, err := g.budget.AllowUpdate(ctx, pod)
	if !allowed || err != nil {
		g.refused.Store(true)
	}
	return allowed, err
}
