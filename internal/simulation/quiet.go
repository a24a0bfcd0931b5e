package simulation

import (
	"slices"
	"time"

	"github.com/podwright/podwright/internal/simulation/invariants"
)

// Bounds of what happens until all is quiet.
const (
	quietFor     = time.Hour
	mostRounds   = 3000
	mostRequests = 500
)

// quiet ends all disturbances and waits until nothing has happened for an hour.
// Then the users make an end of what they did, and it does so again.
func (h *history) quiet() error {
	h.step = 0
	for len(h.processes) > 1 {
		h.say("%s ends", h.processes[0].Name)
		h.crash(h.processes[0])
	}
	if err := h.comeToRest(); err != nil || h.failed() {
		return err
	}
	h.judgeRest(false)
	if h.failed() {
		return nil
	}
	user := h.user()
	if user.Workload() == nil {
		user.Create()
		if err := h.settle(); err != nil {
			return err
		}
	}
	h.workload.Heal(user)
	if err := h.settle(); err != nil {
		return err
	}
	if err := h.comeToRest(); err != nil || h.failed() {
		return err
	}
	h.judgeRest(true)
	return nil
}

// comeToRest lets everybody act until nothing has happened for an hour.
func (h *history) comeToRest() error {
	h.sent = 0
	calm := time.Now()
	for range mostRounds {
		version, sent := h.version, h.sent
		if err := h.round(); err != nil || h.failed() {
			return err
		}
		if err := h.collectGarbage(nil); err != nil {
			return err
		}
		p := h.processes[0]
		switch {
		case h.sent > mostRequests:
			h.violate(invariants.Calm, "%d requests, and no end", h.sent)
			return nil
		case h.version != version || h.sent != sent:
			calm = time.Now()
			time.Sleep(time.Millisecond)
		case p.passing || p.dirty || len(p.lagging()) > 0:
			time.Sleep(time.Millisecond)
		case time.Since(calm) >= quietFor:
			return nil
		default:
			h.sleepUntilDue(p)
		}
	}
	h.violate(invariants.Calm, "does not come to rest in %d rounds", mostRounds)
	return nil
}

// sleepUntilDue sleeps until the next pass, ten minutes at most.
func (h *history) sleepUntilDue(p *Process) {
	d := 10 * time.Minute
	if !p.due.IsZero() {
		d = min(d, max(time.Until(p.due), time.Millisecond))
	}
	time.Sleep(d)
}

// round lets everybody but the garbage collector, which is slow, act once.
func (h *history) round() error {
	p := h.processes[0]
	if err := h.catchUp(p); err != nil {
		return err
	}
	if p.ready(time.Now()) {
		if err := h.pass(p); err != nil {
			return err
		}
	}
	for len(h.requests.waiting) > 0 && !h.failed() {
		if err := h.serve(h.requests.inOrder()[0], fate{name: "is served"}); err != nil {
			return err
		}
	}
	for _, pod := range h.podList() {
		if err := h.sync(pod, true); err != nil {
			return err
		}
	}
	if h.workload.Release != nil {
		h.workload.Release(&User{history: h, name: "hook"})
	}
	return h.settle()
}

// judgeRest judges what there is when all has come to rest.
func (h *history) judgeRest(healed bool) {
	unfinished, err := h.processes[0].controller.Unfinished()
	if err != nil || unfinished != "" {
		h.violate(invariants.Rest, "the controller rests, and should not: %s (error %v)", unfinished, err)
	}
	for _, v := range h.workload.JudgeRest(h.truth(), healed) {
		h.violate(v.Invariant, "%s", v.Message)
	}
}

// failedFor tells whether an invariant did not hold.
func (o *Outcome) failedFor(invariant invariants.Invariant) bool {
	return slices.ContainsFunc(o.Violations, func(v invariants.Violation) bool { return v.Invariant == invariant })
}
