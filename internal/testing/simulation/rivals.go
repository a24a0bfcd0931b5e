// SPDX-License-Identifier: Apache-2.0

package simulation

import "time"

// Bounds of how long a process may wait before it writes again what another one has changed. (CT-12)
const (
	firstRivalry = time.Second
	lastRivalry  = 5 * time.Minute
	overRivalry  = 10 * time.Minute // without another such change
)

// rivalry is how often other processes of a kind have changed what a process of it had written last.
type rivalry struct {
	times int
	last  time.Time
}

// noteWriter notes who has written an object, and that this changes what another process of the kind had written there.
func (h *history) noteWriter(p *Process, resource, key string) {
	object := resource + " " + key
	if before := h.writers[object]; before != nil && before != p && before.kind == p.kind {
		before.rivalry.add(time.Now())
	}
	if h.writers == nil {
		h.writers = map[string]*Process{}
	}
	h.writers[object] = p
}

func (r *rivalry) add(now time.Time) {
	if now.Sub(r.last) >= overRivalry {
		r.times = 0
	}
	r.times, r.last = r.times+1, now
}

// explains tells whether a process may wait until a moment since others undo what it writes. It puts the first change back at once, and
// the next one a second after that. Each further one waits twice as long.
func (r *rivalry) explains(due time.Time) bool {
	if r.times < 2 || due.IsZero() {
		return false
	}
	pause := min(firstRivalry<<min(r.times-2, 20), lastRivalry)
	return !due.After(r.last.Add(pause + late))
}
