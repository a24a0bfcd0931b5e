// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// An update that the API server has refused is tried again after so long, and
// after twice as long every time.
const (
	firstRefusal = time.Second
	lastRefusal  = 5 * time.Minute
)

// refusals remembers which updates the API server has refused. An update is more
// than one write: where a webhook refuses the last of them, the pod has been taken
// out of service by then, and is put back by the next reconcile. Each of these
// writes is an event that asks for a reconcile, whatever the queue's back-off. The
// zero value is ready for use, by several goroutines.
type refusals struct {
	lock  sync.Mutex
	known map[types.NamespacedName]map[types.UID]refusedUpdate
}

// refusedUpdate is that of the update of a pod. A new generation of the workload is
// another update.
type refusedUpdate struct {
	generation int64
	delay      time.Duration
	until      time.Time
	err        error
}

// errRefusedBefore is why an update is not tried yet. It is reported, and no reason
// for another reconcile: that is asked for by its time.
type errRefusedBefore struct{ refusedUpdate }

func (e *errRefusedBefore) Error() string { return e.err.Error() }

// before returns the refusal that an update has to wait for; nil where it may be
// tried now.
func (r *refusals) before(workload types.NamespacedName, generation int64, pod *corev1.Pod, now time.Time) *errRefusedBefore {
	r.lock.Lock()
	defer r.lock.Unlock()
	known, found := r.known[workload][pod.UID]
	if !found || known.generation != generation || !now.Before(known.until) {
		return nil
	}
	return &errRefusedBefore{known}
}

// ended takes note of how an update ended. Only an answer that refuses it counts:
// a conflict and a lost answer are settled by the next reconcile.
func (r *refusals) ended(workload types.NamespacedName, generation int64, pod *corev1.Pod, now time.Time, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsConflict(err) {
		delete(r.known[workload], pod.UID)
		return
	}
	maps.DeleteFunc(r.known[workload], func(_ types.UID, old refusedUpdate) bool { return now.After(old.until.Add(2 * lastRefusal)) })
	if r.known == nil {
		r.known = map[types.NamespacedName]map[types.UID]refusedUpdate{}
	}
	if r.known[workload] == nil {
		r.known[workload] = map[types.UID]refusedUpdate{}
	}
	delay := firstRefusal
	if last, found := r.known[workload][pod.UID]; found && last.generation == generation {
		delay = min(2*last.delay, lastRefusal)
	}
	r.known[workload][pod.UID] = refusedUpdate{generation: generation, delay: delay, until: now.Add(delay), err: err}
}

// forget drops what is remembered of a workload that no longer exists.
func (r *refusals) forget(workload types.NamespacedName) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.known, workload)
}
