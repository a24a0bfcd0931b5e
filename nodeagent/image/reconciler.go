// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
)

// Reconciler reconciles the NodeImage of a node. A reconcile takes milliseconds; the
// pulls that it starts go on by themselves. One goroutine at a time calls it. Close
// ends what was started.
type Reconciler struct {
	distribution client.Interface
	runtime      *nodeagent.Runtime
	reader       Reader
	clock        clock.WithTicker
	recorder     record.EventRecorder
	concurrency  int
	limits       Limits
	filter       Filter
	credentials  *keyring

	writes apiwriter.Store
	pulls  *pulls

	lock    sync.Mutex
	written time.Time // when the status was last written
}

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queue, and it reads what Options.Reader returns. For a
// controller that runs by itself, see New.
func NewReconciler(o Options) (*Reconciler, error) {
	if o.Reader == nil || o.Wake == nil {
		return nil, errors.New("image: Options.Reader or Options.Wake is nil: a Reconciler reads the caller's caches through the first, and calls the second when a pull has ended; New makes a controller with caches of its own")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	r := &Reconciler{
		distribution: o.Distribution, runtime: o.Runtime, reader: o.Reader, clock: o.Clock,
		recorder: o.RecorderOf(EventSource), concurrency: o.Concurrency, limits: o.Limits, filter: o.Filter, credentials: newKeyring(&o),
	}
	r.pulls = &pulls{attempt: r.attempt, wake: o.Wake, clock: o.Clock, of: map[Task]*pull{}}
	return r, nil
}

// Close cancels the pulls that are under way and waits for them to end. Reconcile
// must not be called afterwards.
func (r *Reconciler) Close() { r.pulls.close() }

// Reconcile reconciles the NodeImage of a node once; the key has no namespace. It
// asks to be called again after a time (0: only when something changes or a pull
// ends), or returns an error and wants to be called again after a back-off. It does
// nothing while the synced resourceVersion of the cache is before its last write.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	if wait, err := controller.Wait(ctx, &r.writes, key, r.reader.SyncedResourceVersion, r.clock.Now(), nil); wait > 0 || err != nil {
		return wait, err
	}
	s, plan, err := r.plan(ctx, key)
	if err != nil {
		return 0, err
	}
	return r.apply(ctx, key, s, plan)
}

// Snapshot returns what a plan depends on now. It asks the runtime for its images
// where the plan depends on them. Its objects are shared with the cache: replace them
// by changed copies to ask NewPlan what would happen if.
func (r *Reconciler) Snapshot(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	s, _, err := r.plan(ctx, key)
	return s, err
}

// Plan returns what the next reconcile of the NodeImage of a node would do, without
// doing it. It asks the runtime for its images where the plan depends on them.
func (r *Reconciler) Plan(ctx context.Context, key types.NamespacedName) (*Plan, error) {
	_, plan, err := r.plan(ctx, key)
	return plan, err
}

// plan plans, after it has asked for the images that the node has, where the
// plan depends on them. A runtime that does not answer stops no pull from being
// reported: the attempt waits for it.
func (r *Reconciler) plan(ctx context.Context, key types.NamespacedName) (*Snapshot, *Plan, error) {
	n, err := r.nodeImage(key.Name)
	if err != nil {
		return nil, nil, err
	}
	s := &Snapshot{NodeImage: n, Pulls: r.pulls.list(), Concurrency: r.concurrency, Limits: r.limits, Filter: r.filter, Now: r.clock.Now()}
	plan := NewPlan(s)
	if !plan.ListImages {
		return s, plan, nil
	}
	if s.Images, err = r.runtime.Images(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "It is not known which images the node has: all are pulled")
	}
	if s.Images == nil {
		s.Images = []*criv1.Image{}
	}
	return s, NewPlan(s), nil
}
