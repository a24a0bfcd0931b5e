// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// tellAfter is how long a restart waits for a worker before an event of its pod says so.
const tellAfter = 10 * time.Second

// waits are those of pods for a worker that restarts their containers. The zero value is ready for use, by several goroutines.
type waits struct {
	lock sync.Mutex
	pods map[types.NamespacedName]wait
}

// wait is one for a worker.
type wait struct {
	since time.Time
	works bool // it has a worker
	told  bool // an event has said so
}

// begin takes note that a worker looks at a pod.
func (w *waits) begin(pod types.NamespacedName) {
	w.change(pod, func(of *wait) { of.works = true })
}

// goesOn takes note that the pod has not got the worker.
func (w *waits) goesOn(pod types.NamespacedName, now time.Time) {
	w.change(pod, func(of *wait) {
		if of.works = false; of.since.IsZero() || of.since.After(now) {
			of.since = now
		}
	})
}

// end takes note that the worker is done with a pod, for which the next one is due at a time.
func (w *waits) end(pod types.NamespacedName, next time.Time) {
	w.change(pod, func(of *wait) { *of = wait{since: next} })
}

// late tells, once for each wait, whether a pod has waited for long, and otherwise after what time to ask again. A pod of which
// nothing is known waits from now on.
func (w *waits) late(pod types.NamespacedName, now time.Time) (late bool, again time.Duration) {
	again = tellAfter
	w.change(pod, func(of *wait) {
		if of.works || of.told {
			return
		}
		if of.since.IsZero() {
			of.since = now
		}
		rest := of.since.Add(tellAfter).Sub(now)
		if of.told = rest <= 0; !of.told {
			again = rest
		}
		late = of.told
	})
	return late, again
}

func (w *waits) change(pod types.NamespacedName, how func(*wait)) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.pods == nil {
		w.pods = map[types.NamespacedName]wait{}
	}
	of := w.pods[pod]
	how(&of)
	w.pods[pod] = of
}

// forget drops what is remembered of a pod.
func (w *waits) forget(pod types.NamespacedName) {
	w.lock.Lock()
	defer w.lock.Unlock()
	delete(w.pods, pod)
}

// Tell reconciles a pod once. If its restart has waited for 10 s until Restart can run, an event of the pod says whose containers
// are being stopped. It takes milliseconds, and returns what Reconcile returns. Without it Restart itself says
// so, but not of pods that stand in its queue.
func (r *Reconciler) Tell(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.self.tell(ctx, key)
}

// tell reconciles a pod once: see Reconciler.Tell. (CM-6)
func (r *reconciler) tell(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	pod, err := r.pod(key)
	if err != nil {
		return 0, err
	}
	if pod == nil || !restartDue(pod, r.options.Features) {
		r.waits.forget(key)
		return 0, nil
	}
	late, again := r.waits.late(key, r.options.Clock.Now())
	if !late {
		return again, nil
	}
	s, err := r.look(ctx, key, pod)
	if err != nil {
		return 0, err
	}
	attempts := map[string]Attempt{}
	for _, id := range NewPlan(s).Outdated { // of which no worker has taken note
		attempts[id] = Attempt{Last: s.Now.Add(-tellAfter)}
	}
	maps.Copy(attempts, s.Attempts)
	s.Attempts = attempts
	r.tellOf(s, NewPlan(s))
	return again, nil
}

// tellOf has an event say whom the restarts of a pod wait for.
func (r *reconciler) tellOf(s *Snapshot, plan *Plan) {
	if holders := r.shares.Holders(); len(plan.Restarts) > 0 && holders != "" && r.options.Recorder != nil {
		r.options.Recorder.Event(s.Pod, corev1.EventTypeNormal, "RestartWaits", plan.waitsFor(holders))
	}
}
