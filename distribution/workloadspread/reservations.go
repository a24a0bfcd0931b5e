// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// reservations are those of all WorkloadSpreads. The zero value is ready for use. (WS-7)
type reservations struct {
	lock sync.Mutex
	all  map[types.NamespacedName]*entry
}

// entry are those of one WorkloadSpread. Who holds its lock assigns pods.
type entry struct {
	sync.Mutex
	list    []spread.Reservation
	gone    map[string]time.Time     // when those were dropped that the status may still hold, by key
	waiting []*question              // in the order in which they came
	led     bool                     // one of the questions answers for those that wait
	written *v1alpha1.WorkloadSpread // the last version that this replica wrote, nil once the cache shows it
}

// of returns the entry of a WorkloadSpread.
func (r *reservations) of(key types.NamespacedName) *entry {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.all == nil {
		r.all = map[types.NamespacedName]*entry{}
	}
	if r.all[key] == nil {
		r.all[key] = &entry{}
	}
	return r.all[key]
}

// forget drops the entry of a WorkloadSpread that is gone.
func (r *reservations) forget(key types.NamespacedName) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.all, key)
}

// current drops what has expired, and what is of pods that are seen, and returns the others.
func (e *entry) current(pods []*corev1.Pod, now time.Time) []spread.Reservation {
	seen := spread.Seen(e.list, pods)
	e.drop(now, func(r spread.Reservation) bool { return seen[r.Key] || r.Expired(now) })
	return slices.Clone(e.list)
}

// drop drops reservations for good.
func (e *entry) drop(now time.Time, which func(spread.Reservation) bool) {
	maps.DeleteFunc(e.gone, func(_ string, at time.Time) bool { return now.Sub(at) > 2*spread.ReservedFor })
	e.list = slices.DeleteFunc(e.list, func(r spread.Reservation) bool {
		if !which(r) {
			return false
		}
		if e.gone == nil {
			e.gone = map[string]time.Time{}
		}
		e.gone[r.Key] = now
		return true
	})
}

// absorb takes note of what others have reserved for pods that this replica has been asked about, too.
func (r *reservations) absorb(ws *v1alpha1.WorkloadSpread, now time.Time) {
	r.lock.Lock()
	e := r.all[cache.MetaObjectToName(ws).AsNamespacedName()]
	r.lock.Unlock()
	if e == nil {
		return
	}
	e.Lock()
	defer e.Unlock()
	e.absorb(ws, now)
}

// release drops the reservation of a pod that is seen.
func (r *reservations) release(pod *corev1.Pod, now time.Time) {
	key, matched, found := keyOf(pod)
	if !found {
		return
	}
	r.lock.Lock()
	e := r.all[key]
	r.lock.Unlock()
	if e == nil {
		return
	}
	e.Lock()
	defer e.Unlock()
	e.drop(now, func(r spread.Reservation) bool {
		return r.Key == pod.Name && pod.Name != "" || r.Key == matched.UID && matched.UID != ""
	})
}
