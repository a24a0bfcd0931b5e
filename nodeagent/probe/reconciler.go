// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/nodeagent"
)

// Reconciler reconciles the NodePodProbe of a node. A reconcile takes milliseconds; the
// runs of probes that it starts go on by themselves. One goroutine at a time calls it. Close
// ends what was started.
type Reconciler struct {
	lifecycle client.Interface
	runtime   *nodeagent.Runtime
	reader    Reader
	clock     clock.WithTicker
	recorder  record.EventRecorder
	limits    Limits
	began     time.Time
	// nodeAddress tells the address of the node; nil for what the runtime says, or podnet.NodeAddress.
	nodeAddress func() (string, error)

	writes apiwriter.Store
	runs   *runs

	lock     sync.Mutex
	written  time.Time // when the status was last written, or that was tried
	failures int       // of the last writes in a row
}

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queue, and it reads what Options.Reader returns. For a
// controller that runs by itself, see New.
func NewReconciler(o Options) (*Reconciler, error) {
	if o.Reader == nil || o.Wake == nil {
		return nil, errors.New("probe: Options.Reader or Options.Wake is nil: a Reconciler reads the caller's caches through the first, and calls the second when a run has ended; New makes a controller with caches of its own")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.ProbeMetrics == nil {
		o.ProbeMetrics = noMetrics{}
	}
	r := &Reconciler{
		lifecycle: o.Lifecycle, runtime: o.Runtime, reader: o.Reader, clock: o.Clock, recorder: o.RecorderOf(EventSource), limits: o.Limits, began: o.Clock.Now(),
	}
	r.runs = &runs{run: r.run, wake: o.Wake, clock: o.Clock, probed: o.ProbeMetrics.Probed, of: map[ID]*known{}}
	return r, nil
}

// Close ends the runs that are under way and waits for them. Reconcile
// must not be called afterwards.
func (r *Reconciler) Close() { r.runs.close() }

// Reconcile reconciles the NodePodProbe of a node once; the key has no namespace. It
// asks to be called again after a time (0: only when something changes or a run
// ends), or returns an error and wants to be called again after a back-off. It does
// nothing while the synced resourceVersion of the cache is before its last write.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	if wait, err := controller.Wait(ctx, &r.writes, key, r.reader.SyncedResourceVersion, r.clock.Now(), nil); wait > 0 || err != nil {
		return wait, err
	}
	s, err := r.Snapshot(ctx, key)
	if err != nil {
		return 0, err
	}
	return r.apply(ctx, key, s, NewPlan(s))
}

// Snapshot returns what a plan depends on now. Its objects are shared with the cache: replace them
// by changed copies to ask NewPlan what would happen if.
func (r *Reconciler) Snapshot(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	n, err := r.nodePodProbe(key.Name)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{NodePodProbe: n, Limits: r.limits, Began: r.began, Now: r.clock.Now()}
	r.runs.fill(s)
	return s, nil
}

// Plan returns what the next reconcile of the NodePodProbe of a node would do, without
// doing it.
func (r *Reconciler) Plan(ctx context.Context, key types.NamespacedName) (*Plan, error) {
	s, err := r.Snapshot(ctx, key)
	if err != nil {
		return nil, err
	}
	return NewPlan(s), nil
}
