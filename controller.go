// SPDX-License-Identifier: Apache-2.0

package podwright

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// ControllerOptions says how controllers run. They stand in the Options of every kind, so a
// program makes them once and gives them to all. Every field has a useful zero value.
type ControllerOptions struct {
	// Namespace restricts the informers that New makes itself to a namespace. Default: all
	// namespaces. Controllers of nodes, and of objects without a namespace, ignore it.
	Namespace string
	// Workers is the number of objects reconciled at the same time. Default 3, if the package of
	// the kind says nothing else. A controller limits its own parallelism: a client-side rate limit
	// (QPS) of its clients only slows it down.
	Workers int
	// CacheSyncTimeout is how long Run waits until the caches are filled. After that it returns an error that names those
	// which are not, and why. The API server does not serve the resource, say, or the client may not list or watch it.
	// Default 2 minutes.
	CacheSyncTimeout time.Duration
	// AllowStaleReads reconciles on caches that cannot tell how far they are (see Reader). What was
	// written before is perhaps done again there: pods are created twice, and limits are not kept.
	// Default false: Reconcile returns an error. Controllers of nodes never wait for such caches.
	AllowStaleReads bool
	// Informers returns an informer that the caller shares and runs, of objects of the type that object has; nil for none.
	// New asks for each that the other options do not name, but for those that hold less than all objects of a
	// namespace. It adds indexes to it, also while it runs. Default nil: the controller makes and runs its own, whose
	// objects it keeps small. All of that holds for the shared informers, too, which the options of a kind name.
	Informers func(object runtime.Object) (cache.SharedIndexInformer, error)
	// Reader has a Reconciler read the caches of another framework. NewReconciler requires it, and New
	// ignores it: there it reads informers.
	Reader Reader
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Recorders returns the recorder of a component's events; the kinds know the names of their
	// components. Each controller asks once, unless its own options name a Recorder. Default nil:
	// no events.
	Recorders func(component string) record.EventRecorder
	// Metrics receives how reconciles go. Default: none.
	Metrics Metrics
	// QueueMetrics measures the work queues, each under the name of its controller. Default: what the program has given to
	// workqueue.SetProvider, as an import of controller-runtime's package metrics does, or else none.
	QueueMetrics workqueue.MetricsProvider
}

// Reconciler reconciles the objects of a kind, of which S is a snapshot and P a plan. It observes
// the caches, plans, and applies the plan. It is safe for use by several goroutines, as long as
// one of them at a time reconciles an object.
//
// A program has its methods called in another framework (NewReconciler of the kind's package),
// or asks a running controller what it would do.
type Reconciler[S, P any] interface {
	// Reconcile reconciles an object once. It asks to be called again after a time (0: only when
	// something changes). If it returns an error, it wants to be called again after a back-off.
	// It does nothing while the caches have not seen what it wrote before.
	Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error)
	// Snapshot returns what a plan depends on now; nil if there is no such object, or nothing to
	// do for it ever. Its objects are shared with the caches: replace them by changed copies to
	// ask NewPlan of the kind's package what would happen if.
	Snapshot(ctx context.Context, key types.NamespacedName) (*S, error)
	// Plan returns what the next Reconcile of an object would do, without doing it; nil if
	// Snapshot is.
	Plan(ctx context.Context, key types.NamespacedName) (*P, error)
}

// Controller is a Reconciler with the informers and the queue that it needs. New of a kind's
// package makes one.
type Controller[S, P any] interface {
	Reconciler[S, P]
	// Run reconciles until the context is done, and waits for everything it has started. It runs
	// the informers that New made itself. It returns nil once the context is done, whether that
	// was before the caches were filled, meanwhile or later: the caller has asked for it. It
	// returns an error if the caches are not filled within ControllerOptions.CacheSyncTimeout,
	// and if it is called a second time: it runs once.
	Run(ctx context.Context) error
	// HasSynced tells whether the caches that the controller reads have been filled.
	HasSynced() bool
}

// Metrics receives what the controllers of podwright measure of themselves.
// Implementations must be safe for use by several goroutines. One for Prometheus stands in examples/kit/metrics.
type Metrics interface {
	// Reconciled is called after every reconcile with the name of the controller,
	// its duration, and its error, if any.
	Reconciled(controller string, took time.Duration, err error)
}

// WaitMetrics may be implemented by Metrics beside them.
type WaitMetrics interface {
	// Waited is called with the controller's name when a reconcile has done
	// nothing yet, because the caches have not seen what it wrote before.
	Waited(controller string)
}
