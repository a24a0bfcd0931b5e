// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
)

// ProbeMetrics receives what comes out of probes. Its methods are called by several goroutines.
type ProbeMetrics interface {
	// Probed is called after every run that had a result, Succeeded or Failed, empty if the container has ended, with
	// the time that it took.
	Probed(result string, took time.Duration)
}

// runs are the probes that an agent knows of, and their runs.
type runs struct {
	// run runs a probe once.
	run   func(context.Context, *Start) probeOutcome
	wake  func(types.NamespacedName)
	clock clock.PassiveClock
	// metrics receive every result.
	metrics ProbeMetrics

	lock    sync.Mutex
	of      map[ID]*known
	paced   time.Time
	under   int // way
	running sync.WaitGroup
}

// known is a probe with how its results count.
type known struct {
	Probe
	cancel context.CancelFunc // nil if no run is under way
}

// fill puts what is known into a snapshot.
func (r *runs) fill(s *Snapshot) {
	r.lock.Lock()
	defer r.lock.Unlock()
	s.Probes = make([]Probe, 0, len(r.of))
	for _, one := range r.of {
		s.Probes = append(s.Probes, one.Probe)
	}
	s.Running, s.Paced = r.under, r.paced
}

// begin remembers a probe, in place of what was known of it.
func (r *runs) begin(p Probe) {
	r.forget(p.ID)
	r.lock.Lock()
	defer r.lock.Unlock()
	r.of[p.ID] = &known{Probe: p}
}

// forget drops what is known of a probe, and ends the run that is under way.
func (r *runs) forget(id ID) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if one := r.of[id]; one != nil && one.cancel != nil {
		one.cancel()
	}
	delete(r.of, id)
}

func (r *runs) pace(at time.Time) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.paced = at
}

// start starts a run, which goes on when the reconcile has ended. Spec says how its result counts.
func (r *runs) start(ctx context.Context, key types.NamespacedName, s *Start, spec *corev1.Probe) {
	logger := klog.FromContext(ctx).WithValues("pod", klog.KRef(s.Namespace, s.Pod), "container", s.Container, "probe", s.Probe)
	ctx, cancel := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logger))
	r.lock.Lock()
	defer r.lock.Unlock()
	one := r.of[s.ID]
	if one == nil {
		cancel()
		return
	}
	began := r.clock.Now()
	one.Running, one.Last, one.cancel = true, began, cancel
	r.under++
	r.running.Go(func() {
		defer cancel()
		o := probeOutcome{Reason: "the run panicked", At: began}
		if err := apiwriter.Safely(ctx, func() error { o = r.run(ctx, s); return nil }); err != nil {
			logger.Error(err, "A probe could not be run")
		}
		if o.Result == "" && !o.Ended {
			logger.V(4).Info("No result", "reason", o.Reason)
		} else {
			controller.Measure(r.metrics, func(m ProbeMetrics) { m.Probed(string(o.Result), r.clock.Since(began)) })
		}
		r.ended(one, &o, spec)
		r.wake(key)
	})
}

// ended notes how a run ended, unless that is not wanted any more.
func (r *runs) ended(one *known, o *probeOutcome, spec *corev1.Probe) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.under--
	one.cancel = nil
	if r.of[one.ID] != one {
		return
	}
	one.Probe = one.after(o, spec)
	one.Running = false
}

// close ends all runs and waits for them.
func (r *runs) close() {
	r.lock.Lock()
	var ids []ID
	for id := range r.of {
		ids = append(ids, id)
	}
	r.lock.Unlock()
	for _, id := range ids {
		r.forget(id)
	}
	r.running.Wait()
}
