// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// question is what a process is asked about a pod, and its answer.
type question struct {
	invariants.Answer
	process *Process
	failed  int // requests of the process that had failed when it was asked
}

// question begins one. It may be called while processes run.
func (h *history) question(p *Process, by, operation, pod string) *question {
	q := &question{process: p, failed: p.failed}
	q.Answer = invariants.Answer{By: p.Name, For: by, Operation: operation, Name: pod, Budget: Web.Name, Began: time.Now(), Version: h.version}
	cached, since := map[string]int{}, map[string]int{}
	for resource, record := range h.records {
		cached[resource], since[resource] = p.replicas[resource].at, len(record.changes)
	}
	q.Cached = func(resource, name string) []invariants.Object {
		return h.records[resource].from(cached[resource], name)
	}
	q.Truth = func(resource, name string) []invariants.Object {
		return h.records[resource].from(since[resource], name)
	}
	return q
}

// from returns an object as it was after so many changes, and all that became of it since; nil
// stands for none.
func (r *record) from(position int, name string) []invariants.Object {
	first := invariants.Object(nil)
	for i := position - 1; i >= 0; i-- {
		if c := &r.changes[i]; c.object.GetName() == name {
			if !c.gone {
				first = c.object
			}
			break
		}
	}
	all := []invariants.Object{first}
	for i := position; i < len(r.changes); i++ {
		switch c := &r.changes[i]; {
		case c.object.GetName() != name:
		case c.gone:
			all = append(all, nil)
		default:
			all = append(all, c.object)
		}
	}
	return all
}

func (h *history) judgeAnswer(q *question) {
	for _, k := range h.kinds {
		if k.judge.Answer == nil {
			continue
		}
		for _, v := range k.judge.Answer(&q.Answer) {
			h.violate(v.Invariant, "%s: %s", q.By, v.Message)
		}
	}
}

// heard are answers that are still to be judged.
type heard struct {
	lock       sync.Mutex
	all        []*question
	violations []invariants.Violation // that processes have found themselves
}

func (a *heard) violated(all []invariants.Violation) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.violations = append(a.violations, all...)
}

// Asks says that the process asks itself, of its caches, whether it may do something to a pod. The
// function it returns says what came of it.
func (p *Process) Asks(operation string, pod *corev1.Pod) func(allowed bool, err error) {
	h := p.history
	q := h.question(p, p.Name, operation, pod.Name)
	cached := q.Cached
	q.Itself, q.Cached = true, func(resource, name string) []invariants.Object {
		all := cached(resource, name)
		if resource == pods && name == pod.Name {
			all = append([]invariants.Object{pod}, all...)
		}
		return all
	}
	return func(allowed bool, err error) {
		q.Allowed, q.Unknown = allowed, err != nil
		h.heard.add(q)
	}
}

// add takes note of an answer that is given now.
func (a *heard) add(q *question) {
	q.Ended, q.Failed = time.Now(), q.process.failed != q.failed
	a.lock.Lock()
	defer a.lock.Unlock()
	a.all = append(a.all, q)
}

// hear judges the answers that were given, once what was written before is known to the judges.
func (h *history) hear() {
	all := h.heard.all
	h.heard.all = nil
	slices.SortFunc(all, func(a, b *question) int {
		return cmp.Or(cmp.Compare(a.By, b.By), a.Began.Compare(b.Began), cmp.Compare(a.Name, b.Name))
	})
	for _, q := range all {
		if !q.process.dead {
			h.judgeAnswer(q)
		}
	}
}
