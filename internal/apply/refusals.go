// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
)

// After an update that the API server has refused, the next one of the workload is tried
// after so long. It is tried after twice as long every time until one is served.
const (
	firstRefusal = time.Second
	lastRefusal  = 5 * time.Minute
)

// refusals remembers which updates failed: the API server refused them, or gave no
// answer. An update is more than one write. When a webhook refuses the last of them, the
// pod has been taken out of service by then. The next reconcile puts it back. Each such
// write is an event that asks for a reconcile, whatever the queue's back-off. So the API
// server is asked about that write first from then on, by a dry run. The zero value is
// ready for use, by several goroutines.
type refusals struct {
	lock  sync.Mutex
	known map[types.NamespacedName]*refused
}

// refused are the refusals of one workload. A new generation of it asks for other
// updates.
type refused struct {
	workload   types.UID
	generation int64
	delay      time.Duration
	until      time.Time
	pods       map[types.UID]refusedPod
}

// refusedPod is a pod whose update was refused at a version, see Writer.Version. It is
// updated if it has another one by now: its update may have failed only after the
// write.
type refusedPod struct {
	version string
	at      time.Time
	err     error
}

// Refused returns the refusals of a workload, whose pods are these, and the denials of budgets.
func (w *Writer) Refused(workload metav1.Object, pods []*corev1.Pod, now time.Time) rollout.Refusals {
	all := w.refused(workload, pods, now)
	all.Denied = w.denials.of(workload, pods)
	return all
}

func (w *Writer) refused(workload metav1.Object, pods []*corev1.Pod, now time.Time) rollout.Refusals {
	r := &w.refusals
	r.lock.Lock()
	defer r.lock.Unlock()
	key := keyOf(workload)
	known := r.known[key]
	if known == nil {
		return rollout.Refusals{}
	}
	if known.workload != workload.GetUID() || known.generation != workload.GetGeneration() {
		delete(r.known, key)
		return rollout.Refusals{}
	}
	all := rollout.Refusals{Until: known.until, Now: now, Pods: make(map[types.UID]error, len(known.pods)), At: make(map[types.UID]time.Time, len(known.pods))}
	var errs []error
	for _, pod := range pods {
		if refused, found := known.pods[pod.UID]; found && refused.version == w.version(pod) {
			all.Pods[pod.UID], all.At[pod.UID] = refused.err, refused.at
			errs = append(errs, refused.err)
		}
	}
	if len(errs) == 0 && !now.Before(known.until) {
		delete(r.known, key)
		return rollout.Refusals{}
	}
	all.Err = summary(errors.Join(errs...))
	return all
}

// ended takes note of how an update of a pod ended, which had this version. A conflict does not count as a refusal: the
// next reconcile sees the pod. Updates that are tried at the same time count
// as one.
func (r *refusals) ended(workload metav1.Object, pod *corev1.Pod, version string, now time.Time, err error) {
	key := keyOf(workload)
	r.lock.Lock()
	defer r.lock.Unlock()
	known := r.known[key]
	if err == nil || apierrors.IsConflict(err) {
		if known != nil {
			known.served(pod.UID, now)
		}
		return
	}
	if known == nil || known.workload != workload.GetUID() || known.generation != workload.GetGeneration() {
		if r.known == nil {
			r.known = map[types.NamespacedName]*refused{}
		}
		known = &refused{workload: workload.GetUID(), generation: workload.GetGeneration(), pods: map[types.UID]refusedPod{}}
		r.known[key] = known
	}
	known.pods[pod.UID] = refusedPod{version: version, at: now, err: err}
	var resize *rollout.ResizeError
	if errors.As(err, &resize) && resize.Unsupported { // it is recreated, and need not be waited for
		if known.until.IsZero() {
			known.until = now
		}
		return
	}
	if !now.Before(known.until) {
		known.delay = min(max(2*known.delay, firstRefusal), lastRefusal)
		known.until = now.Add(known.delay)
	}
}

// served takes note of an update that was not refused.
func (r *refused) served(pod types.UID, now time.Time) {
	delete(r.pods, pod)
	if !now.Before(r.until) {
		r.delay = 0
	}
}

// forget drops what is remembered of a workload that no longer exists.
func (r *refusals) forget(workload types.NamespacedName) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.known, workload)
}
