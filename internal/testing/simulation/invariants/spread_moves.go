// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"time"
)

// SpreadMoves are the pods that the processes of a controller of WorkloadSpreads have deleted lately, and judges how many. The zero value
// has seen none.
type SpreadMoves struct {
	at map[string][]time.Time // by process and WorkloadSpread
}

// In movesWithin a process deletes at most fewMoves pods, or a tenth of them. (WS-36)
const (
	movesWithin = 5 * time.Second
	fewMoves    = 10
)

// WorkloadSpread is WorkloadSpread, and judges how many pods go at once.
func (m *SpreadMoves) WorkloadSpread(w *Write) []Violation {
	return append(WorkloadSpread(w), m.check(w)...)
}

// WorkloadSpreads is WorkloadSpreads, and judges how many pods go at once.
func (m *SpreadMoves) WorkloadSpreads(w *Write) []Violation {
	held := *w
	held.Truth, held.Known = WithHolder(w.Truth), WithHolder(w.Known)
	return append(WorkloadSpreads(w), m.check(&held)...)
}

// check judges how many pods a process has deleted, this one among them. Those that it has deleted are of the workload, too.
func (m *SpreadMoves) check(w *Write) (v violations) {
	if w.Resource != "pods" || w.Verb != "delete" {
		return nil
	}
	known := w.Truth
	if w.Known != nil {
		known = w.Known
	}
	f := spreadingOf(known)
	if f == nil {
		return nil // which is judged elsewhere
	}
	if m.at == nil {
		m.at = map[string][]time.Time{}
	}
	now, key := w.Truth.Now, w.By+string(f.UID)
	lately := slices.DeleteFunc(m.at[key], func(at time.Time) bool { return now.Sub(at) >= movesWithin })
	pods := len(lately)
	for _, pod := range f.pods {
		if active(pod) {
			pods++
		}
	}
	lately = append(lately, now)
	m.at[key] = lately
	if most := max(fewMoves, (min(pods, int(f.wants))+9)/10); len(lately) > most {
		v.add(Availability, "%d pods are deleted in %v, and of %d, of which %d are wanted, at most %d may be", len(lately), movesWithin, pods, f.wants, most)
	}
	return v
}
