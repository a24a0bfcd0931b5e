// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// Edited is an object of the kind that a history is about, before and after users changed it.
type Edited struct{ Before, After Object }

// usersPause is after how many moves of users everybody else acts undisturbed, so that there are pods to act upon.
const usersPause = 50

// Edits plays so many moves of the users of a seed, drawn as in its histories, and little besides. It returns what they
// changed about the objects of the kind. Nothing is judged.
func Edits(t *testing.T, w *Subject, seed uint64, moves int) (all []Edited) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(w, &outcome{Seed: seed, Steps: moves})
		for _, k := range h.kinds {
			k.judge = Judge{Write: func(*invariants.Write) []invariants.Violation { return nil }}
		}
		defer h.stop()
		err := h.begin()
		for h.step = 1; h.step <= moves && err == nil; h.step++ {
			var edits []Edited
			edits, err = h.edit()
			all = append(all, edits...)
		}
		if err != nil {
			t.Errorf("seed %d, move %d: %v", seed, h.step, err)
		}
	})
	return all
}

// edit has users make one move, and returns what they changed.
func (h *history) edit() (edits []Edited, err error) {
	record := h.records[h.workload.Resource.Name]
	if h.step%usersPause == 0 {
		time.Sleep(time.Minute)
		if err := h.calm(h.random(h.step)); err != nil {
			return nil, err
		}
	}
	from := len(record.changes)
	if err := h.actUser(h.random(h.step)); err != nil {
		return nil, err
	}
	for _, c := range record.changes[from:] {
		if c.before != nil && !c.gone {
			edits = append(edits, Edited{c.before, c.object})
		}
	}
	return edits, nil
}
