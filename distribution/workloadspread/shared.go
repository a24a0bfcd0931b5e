// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
)

// How often a batch is decided again because another replica was faster, and how long it may take. (WS-7.2)
const (
	maxConflicts = 10
	maxWrite     = 5 * time.Second
)

// mostReserved is how many pods may be on their way at a time: each takes about 140 bytes of the status. (WS-7.3)
const mostReserved = 2000

// question is a pod that a webhook is asked about.
type question struct {
	pod   *corev1.Pod
	found *target
	last  bool   // it is not asked about again
	key   string // stands for the pod if it has no name
	fresh bool   // what was found for it is what the caches show now

	lead, answered chan struct{} // the one that is closed first says what to do
	placed         *corev1.Pod
	again          bool
	err            error
}

// ask answers a question. The questions that come while one is written wait, and are then answered together: with one write for
// all of them. (WS-7.2)
func (p *Placer) ask(ctx context.Context, q *question) {
	q.lead, q.answered = make(chan struct{}), make(chan struct{})
	e := p.reserved.of(cache.MetaObjectToName(q.found.spread).AsNamespacedName())
	if q.fresh = e.enqueue(q); !q.fresh {
		select {
		case <-q.answered:
			return
		case <-q.lead:
		}
	}
	batch := e.dequeue()
	p.answer(ctx, e, q.found.spread, batch)
	for _, other := range batch {
		close(other.answered)
	}
	e.next()
}

// answer decides about a batch, and writes what it decides before it answers.
func (p *Placer) answer(ctx context.Context, e *entry, ws *v1alpha1.WorkloadSpread, batch []*question) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWrite) // its request may end before the others
	defer cancel()
	ws = e.newest(ws)
	for conflicts := 0; ; conflicts++ {
		made, wants := p.decide(e, ws, batch)
		if len(made) == 0 {
			return
		}
		written, err := p.reserve(ctx, ws, wants, made)
		switch {
		case err == nil:
			e.took(written, made)
			return
		case apierrors.IsConflict(err) && conflicts < maxConflicts:
			ws, err = p.options.Distribution.WorkloadSpreads(ws.Namespace).Get(ctx, ws.Name, metav1.GetOptions{})
			if err == nil {
				continue
			}
		}
		for _, q := range batch {
			if q.placed = q.pod; !apierrors.IsNotFound(err) {
				q.err = fmt.Errorf("write which subset it goes to: %w", err)
			}
		}
		return
	}
}

// decide answers the questions by what the caches show and what is reserved, each as if those before it were reserved already.
func (p *Placer) decide(e *entry, ws *v1alpha1.WorkloadSpread, batch []*question) (made []spread.Reservation, wants int32) {
	now := p.options.Clock.Now()
	e.Lock()
	defer e.Unlock()
	e.absorb(ws, now)
	for _, q := range batch {
		q.found.spread = ws
		if !q.fresh { // it has waited, or another replica was faster
			p.refresh(q.pod, q.found)
		}
		result, err := p.inject(e, q.found, q.pod, q.key, made)
		q.placed, q.again, q.err, q.fresh = nil, false, err, false
		switch {
		case err != nil:
		case result.Beyond && !q.last:
			q.again = true
		default:
			q.placed = result.Pod
			if result.Counted {
				made = append(made, result.Reservation)
			}
		}
		if w := q.found.workload; w != nil {
			wants = w.seenBy(ws).Wants()
		}
	}
	return made, wants
}

// reserve writes reservations, unless the WorkloadSpread has changed, or has too many. (WS-7.3)
func (p *Placer) reserve(ctx context.Context, ws *v1alpha1.WorkloadSpread, wants int32, made []spread.Reservation) (*v1alpha1.WorkloadSpread, error) {
	if there := len(spread.Creating(ws)); there+len(made) > mostReserved {
		return nil, fmt.Errorf("%d pods of WorkloadSpread %s are being created, and at most %d may be: try again in %s", there, ws.Name, mostReserved, spread.SeenFor)
	}
	data, err := apply.StatusPatch(apply.Observed{UID: ws.UID, ResourceVersion: ws.ResourceVersion}, &ws.Status, spread.Reserve(ws, wants, made))
	if err != nil {
		return nil, err
	}
	return p.options.Distribution.WorkloadSpreads(ws.Namespace).Patch(ctx, ws.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
}

// enqueue has a question wait, and tells whether it leads: no other one does.
func (e *entry) enqueue(q *question) (leads bool) {
	e.Lock()
	defer e.Unlock()
	e.waiting = append(e.waiting, q)
	leads, e.led = !e.led, true
	return leads
}

func (e *entry) dequeue() []*question {
	e.Lock()
	defer e.Unlock()
	batch := e.waiting
	e.waiting = nil
	return batch
}

// next has the first of those that wait lead.
func (e *entry) next() {
	e.Lock()
	defer e.Unlock()
	if e.led = len(e.waiting) > 0; e.led {
		close(e.waiting[0].lead)
	}
}

// newest returns what was written last, if the cache does not show it yet.
func (e *entry) newest(cached *v1alpha1.WorkloadSpread) *v1alpha1.WorkloadSpread {
	e.Lock()
	defer e.Unlock()
	if e.written == nil || e.written.UID != cached.UID {
		return cached
	}
	if order, err := resourceversion.CompareResourceVersion(e.written.ResourceVersion, cached.ResourceVersion); err != nil || order <= 0 {
		e.written = nil
		return cached
	}
	return e.written
}

// took remembers what was written.
func (e *entry) took(written *v1alpha1.WorkloadSpread, made []spread.Reservation) {
	e.Lock()
	defer e.Unlock()
	e.written = written
	for _, r := range made { // the informer may have shown it already
		e.list = append(slices.DeleteFunc(e.list, func(known spread.Reservation) bool { return known.Key == r.Key }), r)
	}
}

// absorb takes note of what others have reserved: from now on, since their clocks may be others. (WS-7.2)
func (e *entry) absorb(ws *v1alpha1.WorkloadSpread, now time.Time) {
	known := make(map[string]bool, len(e.list))
	for i := range e.list {
		known[e.list[i].Key] = true
	}
	for _, r := range spread.Creating(ws) {
		if _, gone := e.gone[r.Key]; !gone && !known[r.Key] {
			r.Since, r.Expires = now, now.Add(spread.ReservedFor)
			e.list = append(e.list, r)
		}
	}
}
