// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// showJudges shows the judges what has changed since it was called last. A process is
// another author to the judges of other kinds; nil is to all.
func (h *history) showJudges(by *Process) {
	type seen struct {
		resource string
		*change
	}
	var all []seen
	for resource, record := range h.records {
		for i := h.judged[resource]; i < len(record.changes); i++ {
			all = append(all, seen{resource, &record.changes[i]})
		}
		h.judged[resource] = len(record.changes)
	}
	slices.SortFunc(all, func(a, b seen) int { return cmp.Compare(a.version, b.version) })
	for _, s := range all {
		c := invariants.Change{At: s.at, Resource: s.resource}
		if s.before != nil {
			c.Before = s.before
		}
		if !s.gone {
			c.After = s.object
		}
		for _, k := range h.kinds {
			if c.By = ""; by != nil && by.kind == k {
				c.By = by.Name
			}
			if observed := c; k.judge.Observe != nil {
				k.judge.Observe(&observed)
			}
		}
	}
}

// judgeWrite judges the write that a request made.
func (h *history) judgeWrite(r *request, position int) {
	c := &h.records[r.Resource].changes[position]
	objects := map[string]map[string]Object{}
	for resource, record := range h.records {
		objects[resource] = maps.Clone(record.objects)
	}
	key, workload := keyOfObject(c.object), r.process.kind.Resource.Name
	delete(objects[r.Resource], key)
	w := &invariants.Write{By: r.process.Name, Verb: r.Verb, Resource: r.Resource, Subresource: r.Subresource, Asked: r.preconditions(), Sent: r.Body, Refused: r.process.refused}
	if c.before != nil {
		objects[r.Resource][key] = c.before
		w.Before = c.before
	}
	if !c.gone {
		w.After = c.object
	}
	w.Truth = state(time.Now(), workload, objects)
	w.Truth.Created, w.Truth.Version, w.Truth.Undisturbed = h.records[pods].created, c.version-1, h.settled
	if known := r.process.known; known != nil {
		w.Known = state(known.at, workload, known.objects)
		w.Known.Version, w.Known.Asked, w.Known.Failed = known.version, known.asked, known.refused
		w.Known.Untold, w.Known.Expandable = known.untold, h.expandable()
		w.Known.EverFailed = r.process.everFailed
		w.Observed = state(known.at, workload, known.observed)
	}
	for _, k := range h.kinds {
		judge := k.judge.Witness
		if k == r.process.kind {
			judge = k.judge.Write
		}
		if judge == nil {
			continue
		}
		for _, v := range judge(w) {
			h.violate(v.Invariant, "%s: %s", r, v.Message)
		}
	}
	h.noteWriter(r.process, r.Resource, key)
	r.process.wrote(r.Resource, position)
}
