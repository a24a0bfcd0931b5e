// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
)

// Definition describes a kind of objects to the shell, of which S is a snapshot and P a
// plan. What is not marked as optional is required.
type Definition[S, P any] struct {
	// ControllerOptions are those of the kind's options.
	podwright.ControllerOptions
	// pkg is the name of the kind's package, for errors. Name is the name of
	// its controller, for logs and metrics.
	pkg, Name string

	// Self is whose methods Observe and Apply are, for what KindOf returns. Optional.
	Self any
	// Observe reads everything that a plan depends on. It returns nil if there
	// is no such object.
	Observe func(ctx context.Context, key types.NamespacedName) (*S, error)
	// Plan decides what to do, without any I/O.
	Plan func(*S) *P
	// Apply applies a plan. It returns what Reconcile returns.
	Apply func(context.Context, *S, *P) (requeueAfter time.Duration, err error)

	// reads are what Observe reads. Caches of what the kind writes must be able to
	// tell how far they are.
	reads []Read
	// synced tells how far the caches are.
	synced apiwriter.Synced
	// WrapLive wraps the LiveReader of each read. Optional.
	WrapLive func(apiwriter.Live) apiwriter.Live
	// Writer writes.
	Writer Writer
	// SnapshotHolds returns what tells whether a snapshot holds an object of a resource. Optional for a
	// kind that creates nothing.
	SnapshotHolds func(s *S, resource podwright.Resource) func(name string) bool

	// Forget drops what is remembered of an object that no longer exists, beside what Writer
	// remembers. Optional.
	Forget func(key types.NamespacedName)

	// Run runs the controller by run, which ends with the context. Default: nothing beside.
	Run func(ctx context.Context, run func(context.Context) error) error
	// Close ends what reconciles have started, once the controller has ended. Optional.
	Close func()
	// FurtherQueues are other queues of the controller. Default: none.
	FurtherQueues []Queue
	// Wake is set to what has an object reconciled after the settle time, unless another framework
	// runs the Reconciler. Optional.
	Wake *func(key types.NamespacedName)
	// FixedSettleTime is how long events are collected before a reconcile. Default: the longer it takes to
	// plan, the longer, see SettleTime.
	FixedSettleTime time.Duration
	// RunsOnNode goes on with caches that cannot tell how far they are, which may be those of a kubelet. It asks no API server
	// how far it is. It retries first after FirstNodeRetry, and LastRetry defaults to LastNodeRetry.
	RunsOnNode bool

	// firstRetry and LastRetry are the shortest and the longest back-off of a key
	// whose reconciles fail. Default 5 ms, which suits conflicts, and 5 minutes.
	firstRetry, LastRetry time.Duration
	// RetryWhenDue has a reconcile that fails repeated after the time that it returns, if the back-off is longer. What
	// failed does not hold up what is due. That time must not be for trying again. Default: by the back-off alone.
	RetryWhenDue bool
}

// Writer is what a kind writes with, and remembers its writes.
type Writer interface {
	// Writes are those of earlier reconciles.
	Writes() *apiwriter.Store
	// WroteStatus tells whether the status of the kind's object is the one that the controller
	// itself wrote last.
	WroteStatus(key types.NamespacedName, resourceVersion string, status any) bool
	// Forget drops what is remembered of an object that no longer exists.
	Forget(key types.NamespacedName)
}

// reconciler reconciles the objects of a kind: observe, plan, apply, each time on
// what it wrote before. It is safe for use by several goroutines, as long as one
// of them at a time reconciles an object.
type reconciler[S, P any] struct {
	Definition[S, P]
	writes   *apiwriter.Store
	live     apiwriter.Registry
	collects bool                          // some events are collected before a reconcile, see SettleTime
	planning apiwriter.Last[time.Duration] // how long planning took, if events are collected
	waits    apiwriter.Last[bool]          // whether the last reconcile only waited for a cache
	failures apiwriter.Last[int]           // reconciles in a row that failed, whatever waits lie between them
}

// newReconciler returns the reconciler of a kind.
func newReconciler[S, P any](kind Definition[S, P]) *reconciler[S, P] {
	if kind.RunsOnNode {
		kind.firstRetry, kind.LastRetry = cmp.Or(kind.firstRetry, FirstNodeRetry), cmp.Or(kind.LastRetry, LastNodeRetry)
	}
	r := &reconciler[S, P]{Definition: kind, writes: kind.Writer.Writes(), live: apiwriter.Registry{}}
	for _, read := range kind.reads {
		r.collects = r.collects || read.CollectEvents
		switch {
		case read.LiveReader == nil:
		case kind.WrapLive == nil:
			r.live[read.Resource] = read.LiveReader
		default:
			r.live[read.Resource] = kind.WrapLive(read.LiveReader)
		}
	}
	return r
}

// Close ends what reconciles have started, and waits for it.
func (r *reconciler[S, P]) Close() {
	if r.Definition.Close != nil {
		r.Definition.Close()
	}
}

// Reconcile reconciles an object once. It asks to be called again after a time (0: only when something
// changes). If it returns an error, it wants to be called again after a back-off. It does nothing
// while the caches have not seen what earlier reconciles wrote. After failures that takes as long as
// their back-off, since a queue takes it for a success, and begins anew. (CT-1)
func (r *reconciler[S, P]) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	requeueAfter, err = r.reconcile(ctx, key)
	if failures := r.failures.Get(key); failures > 0 && r.waits.Get(key) {
		requeueAfter = max(requeueAfter, r.backOff(failures))
	}
	return requeueAfter, err
}

// backOff is how long the queue of a loop waits after so many failures in a row.
func (r *reconciler[S, P]) backOff(failures int) time.Duration {
	d, most := cmp.Or(r.firstRetry, firstRetry), cmp.Or(r.LastRetry, lastRetry)
	for ; failures > 1 && d < most; failures-- {
		d *= 2
	}
	return min(d, most)
}

// reconcile is Reconcile for a queue that knows waits from successes.
func (r *reconciler[S, P]) reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	r.waits.Forget(key)
	if requeueAfter, err = r.settle(ctx, key); requeueAfter > 0 && err == nil {
		r.waits.Set(key, true)
		return requeueAfter, nil
	}
	if err == nil {
		requeueAfter, err = r.act(ctx, key)
	}
	if err == nil {
		r.failures.Forget(key)
	} else {
		r.failures.Set(key, r.failures.Get(key)+1)
	}
	return requeueAfter, err
}

// settle finds out what became of writes without an answer, and returns how long to wait until the caches show all own writes.
func (r *reconciler[S, P]) settle(ctx context.Context, key types.NamespacedName) (wait time.Duration, err error) {
	shown := func(resource podwright.Resource, name string) (bool, error) { return r.shown(ctx, key, resource, name) }
	if err := r.writes.Settle(key, func(resource podwright.Resource, name string) (string, bool, error) {
		return r.live.Find(ctx, resource, key.Namespace, name, func() (bool, error) { return shown(resource, name) })
	}); err != nil {
		return 0, err
	}
	if err := r.writes.Left(key, shown); err != nil {
		return 0, err
	}
	wait, err = r.wait(ctx, key)
	if metrics, ok := r.Metrics.(podwright.WaitMetrics); ok && wait > 0 && err == nil {
		metrics.Waited(r.Name)
	}
	return wait, err
}

// act observes, plans and applies.
func (r *reconciler[S, P]) act(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	observed := r.Clock.Now()
	snapshot, err := r.Observe(ctx, key)
	if err != nil {
		return 0, err
	}
	if snapshot == nil {
		r.forget(key)
		return 0, nil
	}
	if err := r.checkComplete(ctx, key, snapshot); err != nil {
		return 0, err
	}
	start := r.Clock.Now()
	plan := r.Definition.Plan(snapshot)
	if r.collects {
		r.planning.Set(key, r.Clock.Since(start))
	}
	requeueAfter, err = r.Apply(ctx, snapshot, plan)
	if requeueAfter > 0 { // it counts from what was observed, and requests may have taken their time since
		requeueAfter = max(requeueAfter-r.Clock.Since(observed), min(requeueAfter, StaleRetry))
	}
	return r.writes.Contests.After(key, r.Clock.Now(), requeueAfter, err)
}

func (r *reconciler[S, P]) forget(key types.NamespacedName) {
	r.Writer.Forget(key)
	r.planning.Forget(key)
	if r.Forget != nil {
		r.Forget(key)
	}
}

// wait returns how long to wait for the caches, and an error if they cannot be
// waited for.
func (r *reconciler[S, P]) wait(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	if r.AllowStaleReads {
		return 0, nil
	}
	if r.RunsOnNode {
		return Wait(ctx, r.writes, key, r.synced, r.Clock.Now(), nil)
	}
	for _, read := range r.reads {
		if resource := read.Resource; read.LiveReader != nil && r.synced(resource) == "" {
			return 0, fmt.Errorf("the cache of %s cannot tell how far it is, or is not filled yet: a reconcile of %s would not know whether it sees "+
				"what the one before has written, and would write it again. Reader.SyncedResourceVersion must tell; "+
				"Options.AllowStaleReads goes on all the same", resource, key)
		}
	}
	return Wait(ctx, r.writes, key, r.synced, r.Clock.Now(), r.live.Newest)
}

// checkComplete finds out whether a cache at the synced resourceVersion shows what was
// created. If something is missing, it asks the API server: it may be gone
// again, but if it exists, the cache does not show everything.
func (r *reconciler[S, P]) checkComplete(ctx context.Context, key types.NamespacedName, snapshot *S) error {
	shows := map[podwright.Resource]func(string) bool{}
	unseen := r.writes.Unseen(key, func(resource podwright.Resource, name string) bool {
		if r.AllowStaleReads {
			return true
		}
		if shows[resource] == nil {
			shows[resource] = r.SnapshotHolds(snapshot, resource)
		}
		return shows[resource](name)
	})
	for _, c := range unseen {
		exists, err := r.live.Exists(ctx, c.Resource, key.Namespace, c.Name, c.Owner)
		if err != nil {
			return fmt.Errorf("read %s %s, which was created and is not in the cache: %w", c.Resource, c.Name, err)
		}
		if exists {
			return fmt.Errorf("%s %s/%s was created and exists, and the cache of %[1]s, which is at a later version, lacks it: "+
				"does its informer select by labels, fields or namespace? Share one that holds all %[1]s of the namespace", c.Resource, key.Namespace, c.Name)
		}
	}
	if len(unseen) > 0 {
		r.writes.Unseen(key, func(podwright.Resource, string) bool { return true }) // they are gone again
	}
	return nil
}

// shown tells whether the caches hold an object that belongs to another one.
func (r *reconciler[S, P]) shown(ctx context.Context, key types.NamespacedName, resource podwright.Resource, name string) (bool, error) {
	snapshot, err := r.Observe(ctx, key)
	if snapshot == nil || err != nil {
		return false, err
	}
	return r.SnapshotHolds != nil && r.SnapshotHolds(snapshot, resource)(name), nil
}

// Snapshot returns what a plan depends on now; nil if there is no such object.
func (r *reconciler[S, P]) Snapshot(ctx context.Context, key types.NamespacedName) (*S, error) {
	return r.Observe(ctx, key)
}

// Plan returns what the next reconcile of an object would do, without doing it;
// nil when the object does not exist.
func (r *reconciler[S, P]) Plan(ctx context.Context, key types.NamespacedName) (*P, error) {
	snapshot, err := r.Observe(ctx, key)
	if snapshot == nil || err != nil {
		return nil, err
	}
	return r.Definition.Plan(snapshot), nil
}

// Events about pods and claims come in bursts, and a plan looks at all pods.
// So they are collected before a reconcile: the longer it takes to plan, the longer.
// Planning thus takes about a twentieth of one core at most, per workload.
const (
	leastSettleTime = 10 * time.Millisecond
	mostSettleTime  = 500 * time.Millisecond
	settleFactor    = 20
)

// SettleTime is how long to collect events about what belongs to an object before
// it is reconciled.
func (r *reconciler[S, P]) SettleTime(key types.NamespacedName) time.Duration {
	if r.FixedSettleTime > 0 {
		return r.FixedSettleTime
	}
	return min(max(settleFactor*r.planning.Get(key), leastSettleTime), mostSettleTime)
}
