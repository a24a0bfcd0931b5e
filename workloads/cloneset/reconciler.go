package cloneset

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/ownwrites"
	"github.com/podwright/podwright/internal/writes"
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
	pods       writes.Resource
	claims     writes.Resource
	reader     Reader
	jobs       ImagePullJobs
	budget     Budget
	clock      clock.PassiveClock
	recorder   record.EventRecorder
	features   Features
	own        ownwrites.Tracker
	planning   lastOf[time.Duration] // how long planning took
	statuses   lastOf[string]        // the version of the last own write of the status
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
		pods:   writes.Resource{Client: o.Kubernetes.CoreV1().RESTClient(), Name: "pods"},
		claims: writes.Resource{Client: o.Kubernetes.CoreV1().RESTClient(), Name: "persistentvolumeclaims"},
		jobs:   o.Jobs, budget: o.Budget,
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
	if err := r.own.Settle(key, func(resource Resource, name string) (string, error) {
		return r.find(ctx, key, resource, name)
	}); err != nil {
		return 0, err
	}
	if pending := r.own.Pending(key, r.reader.Seen); pending != "" {
		klog.FromContext(ctx).V(4).Info("Waiting for the cache", "reason", pending)
		return staleRetry, nil
	}
	snapshot, err := r.observe(key)
	if err != nil {
		return 0, err
	}
	if snapshot == nil {
		r.own.Forget(key)
		r.planning.forget(key)
		r.statuses.forget(key)
		return 0, nil
	}
	start := r.clock.Now()
	plan := NewPlan(snapshot)
	r.planning.set(key, r.clock.Since(start))
	return r.apply(ctx, snapshot, plan)
}

// find returns the version at which a cache shows what became of a write that
// had no answer. Where the pod or claim is gone and the cache still shows it,
// that is how far the API server has come by now.
func (r *Reconciler) find(ctx context.Context, key types.NamespacedName, resource Resource, name string) (resourceVersion string, err error) {
	of := r.pods
	if resource == ResourceClaims {
		of = r.claims
	}
	resourceVersion, err = of.Version(ctx, key.Namespace, name)
	if !apierrors.IsNotFound(err) {
		return resourceVersion, err
	}
	if shown, err := r.shown(key, resource, name); !shown || err != nil {
		return "", err
	}
	return of.Newest(ctx, key.Namespace)
}

// shown tells whether the cache holds a pod or a claim of a CloneSet.
func (r *Reconciler) shown(key types.NamespacedName, resource Resource, name string) (bool, error) {
	s, err := r.observe(key)
	if s == nil || err != nil {
		return false, err
	}
	if resource == ResourceClaims {
		return slices.ContainsFunc(s.Claims, func(c *corev1.PersistentVolumeClaim) bool { return c.Name == name }), nil
	}
	return slices.ContainsFunc(s.Pods, func(p *corev1.Pod) bool { return p.Name == name }), nil
}

// lastOf remembers one value per CloneSet: how long its last plan took, for example.
type lastOf[T any] struct{ byKey sync.Map }

func (l *lastOf[T]) set(key types.NamespacedName, value T) { l.byKey.Store(key, value) }
func (l *lastOf[T]) forget(key types.NamespacedName)       { l.byKey.Delete(key) }

// get returns the zero value where nothing is remembered.
func (l *lastOf[T]) get(key types.NamespacedName) T {
	value, _ := l.byKey.Load(key)
	t, _ := value.(T)
	return t
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

// budgetGate asks the budget about pods, one at a time, until it has refused one.
type budgetGate struct {
	budget  Budget
	lock    sync.Mutex
	refused bool
}

// allow tells whether a pod may be updated.
func (g *budgetGate) allow(ctx context.Context, pod *corev1.Pod) (bool, error) {
	if g.budget == nil {
		return true, nil
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.refused {
		return false, nil
	}
	allowed, err := g.budget.AllowUpdate(ctx, pod)
	g.refused = !allowed || err != nil
	return allowed, err
}
