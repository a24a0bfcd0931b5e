// SPDX-License-Identifier: Apache-2.0

// Package podhistory remembers what has become of the pods of a namespace, for tests and demos.
package podhistory

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
)

// Change is a new state of a pod, or its end.
type Change struct {
	Old, New *corev1.Pod // nil if there was none, or is none any more
	at       time.Time   // when it was observed
	version  string
}

// Pod returns the last state that the change tells.
func (c Change) Pod() *corev1.Pod {
	if c.New == nil {
		return c.Old
	}
	return c.New
}

// String is the change in one line, with its time. The zero change is that of nothing.
func (c Change) String() string {
	if c.Pod() == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s rv %s %s", c.at.Format("15:04:05.000"), c.version, podstate.Describe(c.Pod(), c.New == nil))
}

// History is every change of pods, in the order in which the API server stored them. The zero value is one of nothing yet.
type History struct {
	mu      sync.Mutex
	changes []Change
}

// Observe takes note of a change; a mirror tells it.
func (h *History) Observe(_ map[types.UID]*corev1.Pod, old, new **corev1.Pod, version string, _ bool) {
	change := Change{at: time.Now(), version: version}
	if old != nil {
		change.Old = *old
	}
	if new != nil {
		change.New = *new
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes = append(h.changes, change)
}

// Changes returns all so far. They are shared and must not be changed.
func (h *History) Changes() []Change {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clip(h.changes)
}

// Replay calls visit with all pods that there were after the first changes, as many as since says, and again after every later
// change. The map is good until visit returns.
func Replay(changes []Change, since int, visit func(all map[types.UID]*corev1.Pod, last Change)) {
	all := map[types.UID]*corev1.Pod{}
	for i, last := range append([]Change{{}}, changes...) {
		if i > 0 {
			all[last.Pod().UID] = last.New
		}
		if i > 0 && last.New == nil {
			delete(all, last.Old.UID)
		}
		if i >= since {
			visit(all, last)
		}
	}
}

// Least returns how many pods of a kind there were when there were fewest: after the first changes, as many as since says, or later.
func Least(changes []Change, since int, is func(*corev1.Pod) bool) int {
	least := math.MaxInt
	Replay(changes, since, func(all map[types.UID]*corev1.Pod, _ Change) {
		n := 0
		for _, pod := range all {
			if is(pod) {
				n++
			}
		}
		least = min(least, n)
	})
	return least
}

// Track is what has become of one pod.
type Track struct {
	States  []*corev1.Pod // in order; the first is that from before, unless it was created meanwhile
	Created bool
	Deleted bool // it is gone, or about to go
	Gone    bool
}

// First is the pod as it was in the beginning.
func (t *Track) First() *corev1.Pod { return t.States[0] }

// Last is the pod in its last state.
func (t *Track) Last() *corev1.Pod { return t.States[len(t.States)-1] }

// Tracks returns what has become of every pod that there was after the first changes, as many as since says, or that came later.
func Tracks(changes []Change, since int) map[types.UID]*Track {
	tracks := map[types.UID]*Track{}
	for i, c := range changes {
		pod, before := c.Pod(), i < since
		t := tracks[pod.UID]
		if t == nil || before {
			t = &Track{Created: !before}
			tracks[pod.UID] = t
		}
		t.States, t.Gone = append(t.States, pod), c.New == nil
		t.Deleted = t.Deleted || t.Gone || pod.DeletionTimestamp != nil
		if before && t.Gone {
			delete(tracks, pod.UID)
		}
	}
	return tracks
}

// Places returns the nodes and IPs that the pod has been at, without repetition, from when it had both.
func (t *Track) Places() (places []string) {
	for _, pod := range t.States {
		known := len(places) > 0 || pod.Spec.NodeName != "" && pod.Status.PodIP != ""
		if place := pod.Spec.NodeName + " " + pod.Status.PodIP; known && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}
