// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// FewWithin is how long a deletion counts. A repair may be wrong about all pods of a workload. So in that time it deletes few of them, or a
// tenth of them if that is more. (CT-18)
const FewWithin = 5 * time.Second

const few, tenth = 10, 10

// Recent returns those of the times of deletions, the oldest first, that still count. A time that lies ahead of now does not. (CT-18)
func Recent(deleted []time.Time, now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(deleted), func(at time.Time) bool { return at.After(now) || now.Sub(at) >= FewWithin })
}

// Few says how many of the pods that are due for a repair may be deleted now. The workload has so many pods, and others were deleted at
// those times. If not all may be, more may be after the time again; otherwise that is 0. (CT-18)
func Few(due, pods int, deleted []time.Time, now time.Time) (may int, again time.Duration) {
	recent := Recent(deleted, now)
	may = min(due, max(max(few, (pods+tenth-1)/tenth)-len(recent), 0))
	switch {
	case may == due:
		return may, 0
	case len(recent) > 0:
		return may, recent[0].Add(FewWithin).Sub(now)
	}
	return may, FewWithin
}

// Repaired is what is remembered of a repair that deletes few pods of a workload at once.
type Repaired struct {
	// Deleted is when it has deleted pods, or perhaps has, the oldest first.
	Deleted []time.Time
	// Kept are pods that could not be deleted when that was tried last. They come last, so that they hold back no others.
	Kept map[types.UID]bool
}

// Repair is a repair under way.
type Repair struct {
	lock sync.Mutex
	Repaired
}

// Begin begins a repair of a workload that has those pods.
func (r Repaired) Begin(pods []*corev1.Pod, now time.Time) *Repair {
	begun := &Repair{Repaired: Repaired{Deleted: Recent(r.Deleted, now), Kept: map[types.UID]bool{}}}
	for _, pod := range pods {
		if r.Kept[pod.UID] {
			begun.Kept[pod.UID] = true
		}
	}
	return begun
}

// Tried takes note that a pod was to be deleted: whether it may be gone, and whether that failed. Several goroutines may call it.
func (r *Repair) Tried(pod types.UID, gone, failed bool, now time.Time) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if gone {
		r.Deleted = append(r.Deleted, now)
	}
	delete(r.Kept, pod)
	if failed {
		r.Kept[pod] = true
	}
}
