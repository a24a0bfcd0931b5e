// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
)

// loopConfig says how a loop runs.
type loopConfig struct {
	podwright.ControllerOptions
	// Name stands in logs and metrics. Required.
	Name string
	// reconcile reconciles an object once. A positive requeueAfter asks for it
	// again then; an error asks for it after a back-off. Required.
	reconcile func(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error)
	// firstRetry and lastRetry are the first and the longest back-off of a key
	// whose reconciles fail. Default 5 ms, for conflicts, and 5 minutes.
	firstRetry, lastRetry time.Duration
	// retryWhenDue is that of Definition.
	retryWhenDue bool
	// waits tells whether the last reconcile of a key did nothing but wait for a cache. That is no success, so
	// the back-off of the failures before it goes on. Nil: none waits. (CT-1)
	waits func(key types.NamespacedName) bool
}

// workLoop reconciles the keys that are added to it.
type workLoop struct {
	loopConfig
	queue   workqueue.TypedRateLimitingInterface[types.NamespacedName]
	backlog *backlog
}

// defaultWorkers is the default of ControllerOptions.Workers.
const defaultWorkers = 3

// The back-off of a key whose reconciles fail: the first retry is quick, for conflicts. A
// spec that cannot work costs one reconcile every few minutes.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Minute
)

// The back-off on a node. There are no conflicts that another try would solve at once; but a runtime
// that was restarted is asked again soon. (CRR-5.1, IMG-3.4)
const (
	FirstNodeRetry = 500 * time.Millisecond
	LastNodeRetry  = 50 * time.Second
)

// Queue is one more queue of a controller, with work of another kind about the same objects.
type Queue struct {
	// Name stands in logs and metrics.
	Name string
	// Workers is the number of keys worked on at the same time. Default 3.
	Workers int
	// Reconcile is that of the loop. It waits for caches by itself.
	Reconcile func(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error)
	// Concern enqueues what an event of the first read concerns.
	Concern Concern
}

// loops returns the Loops that reconcile what the sources enqueue.
func (r *reconciler[S, P]) loops(sources *Sources) ([]*workLoop, error) {
	loop, err := r.loop(sources)
	loops := []*workLoop{loop}
	for _, queue := range r.FurtherQueues {
		options := r.ControllerOptions
		options.Workers = queue.Workers
		beside := newLoop(loopConfig{ControllerOptions: options, Name: queue.Name, reconcile: queue.Reconcile, firstRetry: r.firstRetry, lastRetry: r.LastRetry})
		read := sources.reads[0]
		_, err2 := subscribe(*read.Informer, &subscription{fields: read.Fields | identity, concern: queue.Concern, enqueue: beside.add, initial: beside.addInitial})
		if err2 != nil {
			err = errors.Join(err, fmt.Errorf("%s: watch: %w", r.pkg, err2))
		}
		loops = append(loops, beside)
	}
	return loops, err
}

func (r *reconciler[S, P]) loop(sources *Sources) (*workLoop, error) {
	loop := newLoop(loopConfig{
		ControllerOptions: r.ControllerOptions, Name: r.Name, reconcile: r.reconcile, waits: r.waits.Get, firstRetry: r.firstRetry, lastRetry: r.LastRetry, retryWhenDue: r.RetryWhenDue,
	})
	collected := func(key types.NamespacedName) { loop.addAfter(key, r.SettleTime(key)) }
	if r.Wake != nil {
		*r.Wake = collected
	}
	return loop, sources.subscribe(enqueues{now: loop.add, collected: collected, initial: loop.addInitial}, r.Writer.WroteStatus)
}

// setDefaults sets what options do not say.
func setDefaults(o *podwright.ControllerOptions, workers int) {
	o.Workers, o.CacheSyncTimeout = cmp.Or(o.Workers, workers), cmp.Or(o.CacheSyncTimeout, CacheSyncTimeout)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Metrics == nil {
		o.Metrics = noMetrics{}
	}
}

// newLoop returns a loop that is not yet running. Keys may be added at once.
func newLoop(c loopConfig) *workLoop {
	setDefaults(&c.ControllerOptions, defaultWorkers)
	c.firstRetry, c.lastRetry = cmp.Or(c.firstRetry, firstRetry), cmp.Or(c.lastRetry, lastRetry)
	l := &workLoop{loopConfig: c, backlog: newBacklog()}
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.NamespacedName]{
		Name: c.Name, Clock: c.Clock, MetricsProvider: c.QueueMetrics, Queue: l.backlog,
	})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.NamespacedName]{
		Name: c.Name, Clock: c.Clock, MetricsProvider: c.QueueMetrics, Queue: queue,
	})
	l.queue = workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](c.firstRetry, c.lastRetry),
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{DelayingQueue: delaying})
	return l
}

// add enqueues an object to which something has happened.
func (l *workLoop) add(key types.NamespacedName) { l.addAfter(key, 0) }

// addAfter enqueues such an object after a time.
func (l *workLoop) addAfter(key types.NamespacedName, after time.Duration) {
	l.backlog.happened(key)
	l.queue.AddAfter(key, after)
}

// addInitial enqueues an object that is there at the start.
func (l *workLoop) addInitial(key types.NamespacedName) {
	l.backlog.begins(key)
	l.queue.Add(key)
}

// runLoops fills the caches, and has the Loops reconcile until the context is done. Then it waits for everything that was started.
// It can be called once: then the queues are shut down.
func runLoops(ctx context.Context, caches *Filling, loops ...*workLoop) error {
	for _, loop := range loops {
		defer loop.queue.ShutDown()
	}
	return caches.Run(ctx, func(ctx context.Context) error {
		var running sync.WaitGroup
		for _, loop := range loops {
			running.Go(func() { loop.work(ctx) })
		}
		running.Wait()
		return nil
	})
}

// work reconciles until the context is done.
func (l *workLoop) work(ctx context.Context) {
	logger := klog.FromContext(ctx).WithName(l.Name)
	ctx = klog.NewContext(ctx, logger)
	logger.Info("Started", "workers", l.Workers)
	var workers sync.WaitGroup
	for range l.Workers {
		workers.Go(func() {
			for l.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	l.queue.ShutDown()
	workers.Wait()
	logger.Info("Stopped")
}

// next reconciles one object; it returns false when the queue has been shut down.
func (l *workLoop) next(ctx context.Context) bool {
	key, shutdown := l.queue.Get()
	if shutdown {
		return false
	}
	defer l.queue.Done(key)
	if ctx.Err() != nil {
		return true // drain
	}
	logger := klog.FromContext(ctx).WithValues("object", key)
	start := l.Clock.Now()
	after, err := l.safely(klog.NewContext(ctx, logger), key)
	l.Metrics.Reconciled(l.Name, l.Clock.Since(start), err)
	switch {
	case err != nil && ctx.Err() != nil:
	case err != nil:
		logFailure(logger, err)
		l.queue.AddRateLimited(key)
	case l.waits != nil && l.waits(key):
	default:
		l.queue.Forget(key)
	}
	if after > 0 && (err == nil || l.retryWhenDue && ctx.Err() == nil) {
		l.queue.AddAfter(key, after)
	}
	return true
}

// safely turns a panic in a reconcile into an error: one broken object must not
// take down the controllers of all others.
func (l *workLoop) safely(ctx context.Context, key types.NamespacedName) (after time.Duration, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return l.reconcile(ctx, key)
}

// logFailure keeps conflicts out of the error log: they are how several writers
// of one object take turns.
func logFailure(logger klog.Logger, err error) {
	var status apierrors.APIStatus
	if errors.As(err, &status) && apierrors.IsConflict(err) {
		logger.V(2).Info("Object has changed, trying again", "reason", err.Error())
		return
	}
	logger.Error(err, "Reconcile failed, trying again")
}
