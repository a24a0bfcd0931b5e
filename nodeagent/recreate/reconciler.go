// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/internal/shares"
	"github.com/podwright/podwright/nodeagent/internal/stop"
)

// Reconciler reconciles pods for which there are requests, in two ways, for two
// queues: Reconcile works on a request, and takes as long as a container needs to
// end; Answer has others say that they must wait, and takes milliseconds. It is
// safe for use by several goroutines, as long as each of the two runs for a pod
// once at a time.
type Reconciler struct {
	runtime   *nodeagent.Runtime
	reader    Reader
	lifecycle client.Interface
	clock     clock.PassiveClock
	recorder  record.EventRecorder
	stopper   *stop.Stopper

	// memory is since when requests are known.
	memory memory
	// underway are the stops, which Reconcile waits for and Answer cuts short.
	underway underway
	// shares are those of the namespaces in the workers, which wait for containers.
	shares shares.Shares
	// writes are those of Reconcile, and answers those of Answer, by pod.
	writes, answers apiwriter.Store
}

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queues, and it reads what Options.Reader returns. For a
// controller that runs by itself, see New.
func NewReconciler(o Options) (*Reconciler, error) {
	if err := errors.Join(controller.Check("recreate").Reader(o.Reader != nil).Err(), o.validate()); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	recorder := o.RecorderOf(EventSource)
	return &Reconciler{
		runtime: o.Runtime, reader: o.Reader, lifecycle: o.Lifecycle, clock: o.Clock, recorder: recorder,
		shares:  shares.Shares{Workers: o.Workers},
		stopper: &stop.Stopper{Runtime: o.Runtime, Clock: o.Clock, Recorder: recorder, MaxGrace: o.MaxGracePeriod},
	}, nil
}

// Reconcile reconciles a pod once: it takes the next step of the request that is
// worked on, which may be to stop a container and wait for its end. It asks to be
// called again after a time (0: only when something changes), or returns an error
// and wants to be called again after a back-off. It does nothing while the synced
// resourceVersion of the cache is before its last write.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	if wait, err := controller.Wait(ctx, &r.writes, key, r.reader.SyncedResourceVersion, r.clock.Now(), nil); wait > 0 || err != nil {
		return wait, err
	}
	s, err := r.observe(ctx, key)
	if err != nil {
		return 0, err
	}
	if s.Chosen() == nil {
		r.writes.Forget(key)
		return 0, nil
	}
	plan := NewPlan(s)
	if plan.Stop != nil {
		free, ok := r.shares.Take(key.Namespace)
		if !ok {
			klog.FromContext(ctx).V(2).Info("Waiting for other pods of the namespace, of which as many containers as may are being stopped", "stopping", r.shares.Holders())
			return shareAgain, nil
		}
		defer free()
	}
	return r.apply(ctx, key, s, plan)
}

// shareAgain is when to look again where a namespace has its share of the workers.
const shareAgain = 2 * time.Second

// Answer reconciles a pod once, for the requests that must wait for another one, or
// for more than 10 s until Reconcile can run: they then say that they wait. Where the
// request that Reconcile works on is completed or gone, it ends the wait for the
// container. It asks no runtime, and returns what Reconcile returns.
func (r *Reconciler) Answer(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	if wait, err := controller.Wait(ctx, &r.answers, key, r.reader.SyncedResourceVersion, r.clock.Now(), nil); wait > 0 || err != nil {
		return wait, err
	}
	requests, err := r.requests(key)
	if err != nil {
		return 0, err
	}
	r.underway.check(key, requests)
	if len(requests) == 0 {
		r.answers.Forget(key)
		r.memory.see(key, nil, r.clock.Now())
		return 0, nil
	}
	s := r.snapshot(key, requests)
	s.Stopping = r.shares.Holders()
	answers := NewPlan(s).Answers
	late, again := s.late()
	if late != nil {
		answers = append(answers, *late)
	}
	after, err := r.answer(ctx, key, answers)
	return max(after, again), err
}

// Snapshot returns what a plan for a pod depends on now; nil when there is no
// request for it. It asks the runtime what it has of the pod. Its objects are shared
// with the cache: replace them by changed copies to ask NewPlan what would happen if.
func (r *Reconciler) Snapshot(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	s, err := r.observe(ctx, key)
	if err != nil || s.Chosen() == nil {
		return nil, err
	}
	return s, nil
}

// Plan returns what the next reconciles of a pod would do, without doing it; nil
// when there is no request for it. It asks the runtime what it has of the pod.
func (r *Reconciler) Plan(ctx context.Context, key types.NamespacedName) (*Plan, error) {
	s, err := r.Snapshot(ctx, key)
	if s == nil || err != nil {
		return nil, err
	}
	return NewPlan(s), nil
}
