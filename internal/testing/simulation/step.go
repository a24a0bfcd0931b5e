// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// random returns the random numbers of a step. They depend on nothing else, so
// that the first steps of a history are the same however many follow.
func (h *history) random(step int) *rand.Rand { return rand.New(rand.NewPCG(h.seed, uint64(step))) }

// option is something that may happen in a step.
type option struct {
	weight int
	happen func(*rand.Rand)
}

// takeStep lets one thing happen of those that can.
func (h *history) takeStep() {
	r := h.random(h.step)
	options := []option{
		{4, h.passTime},
		{8, h.actNode},
		{2, h.disturbPod},
		{1, h.collectGarbage},
		{2 + 6*(len(h.kinds)-1), h.actUser}, // who changes one kind while another is at work makes the best scenarios
		{1, h.administrate},
		{1, h.crashOrStart},
		{3, h.calm},
	}
	if len(h.requests.inOrder()) > 0 {
		options = append(options, option{16, h.serveOne})
	}
	for _, p := range h.processes {
		if p.ready(time.Now()) {
			options = append(options, option{10, func(*rand.Rand) { h.say("%s: a reconcile begins", p.Name); h.reconcile(p) }})
		}
		options = append(options, option{6, func(r *rand.Rand) { h.showCaches(p, r) }})
	}
	if h.hasNodes() {
		options = append(options, option{2, h.changeNodes})
	}
	if h.ending != nil {
		options = append(options, option{6, h.sweep})
	}
	if h.workload.VolumesGrow {
		options = append(options, option{6, h.actVolume})
	}
	if len(h.webhooks) > 0 {
		options = append(options, option{8, h.showWebhook}, option{1, h.restartWebhook}, option{4, h.drainOn})
	}
	if h.workload.Others != nil {
		options = append(options, option{5, h.actOthers})
	}
	total := 0
	for _, o := range options {
		total += o.weight
	}
	n := r.IntN(total)
	for _, o := range options {
		if n -= o.weight; n < 0 {
			o.happen(r)
			return
		}
	}
}

// calm lets everybody act undisturbed for a moment, so that rollouts get on.
func (h *history) calm(r *rand.Rand) {
	h.say("a calm moment")
	for range 1 + r.IntN(6) {
		if h.round(); h.failed() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	h.settle()
}

func (h *history) serveOne(r *rand.Rand) {
	waiting := h.requests.inOrder()
	chosen := waiting[r.IntN(len(waiting))]
	if r.IntN(8) > 0 {
		h.serve(chosen, fate{name: "is served"})
		return
	}
	fates := chosen.fates()
	h.serve(chosen, fates[r.IntN(len(fates))])
}

// showCaches lets caches of a process catch up, one event or all of them, or
// filled anew.
func (h *history) showCaches(p *Process, r *rand.Rand) {
	resources := p.lagging()
	if len(resources) == 0 {
		for resource := range h.records {
			p.replicas[resource].bookmark(h.version)
		}
		return
	}
	resource := resources[r.IntN(len(resources))]
	behind := p.replicas[resource].behind()
	switch n := r.IntN(8); {
	case n == 0:
		h.say("%s: the cache of %s is filled anew", p.Name, resource)
		p.relist(resource, h.version)
	case n < 3:
		h.say("%s: the cache of %s sees the next event of %d", p.Name, resource, behind)
		p.advance(resource, 1)
	case n < 5:
		h.say("%s: the cache of %s sees all %d events", p.Name, resource, behind)
		p.advance(resource, behind)
	default:
		h.say("%s: all caches see everything", p.Name)
		h.catchUp(p)
	}
}

func (h *history) catchUp(p *Process) {
	for _, resource := range p.lagging() {
		p.advance(resource, p.replicas[resource].behind())
	}
	for _, replica := range p.replicas {
		replica.bookmark(h.version)
	}
}

// passTime lets time pass: little or much, or until a reconcile is due.
func (h *history) passTime(r *rand.Rand) {
	d := []time.Duration{time.Millisecond, 30 * time.Millisecond, time.Second, 5 * time.Second, 20 * time.Second, 2 * time.Minute}[r.IntN(6)]
	if due := h.nextDue(); !due.IsZero() && r.IntN(2) == 0 {
		d = max(time.Until(due), 0)
	}
	h.say("%v pass", d)
	time.Sleep(d)
	h.settle()
	h.askProbes()
	for _, p := range h.processes {
		h.checkTimely(p)
	}
}

// checkTimely: a process that knows everything, and waits for a moment that is
// not near, or for none, has nothing to do.
func (h *history) checkTimely(p *Process) {
	if p.reconciling || p.dirty || p.failures > 0 || p.held() || p.rivalry.explains(p.due) || len(p.lagging()) > 0 || !p.due.IsZero() && time.Until(p.due) <= late {
		return
	}
	if unfinished, err := p.controller.Unfinished(); unfinished != "" || err != nil {
		h.violate(invariants.Settled, "%s waits until %s, and there is something to do: %s (error %v)", p.Name, p.due.UTC().Format("15:04:05"), unfinished, err)
	}
}

// nextDue is when the next reconcile is due that waits for a time; zero if none does.
func (h *history) nextDue() (next time.Time) {
	for _, p := range h.processes {
		if !p.reconciling && !p.due.IsZero() && (next.IsZero() || p.due.Before(next)) {
			next = p.due
		}
	}
	return next
}

// crashOrStart crashes a process, and starts another, or starts one beside it,
// as when a lease is lost and the loser has not noticed.
func (h *history) crashOrStart(r *rand.Rand) {
	k := h.anyKind(r)
	running := h.processesOf(k)
	n := r.IntN(4)
	switch {
	case len(running) > 1:
		i := r.IntN(2)
		h.say("%s ends, %s goes on alone", running[i].Name, running[1-i].Name)
		h.crash(running[i])
		h.settle()
	case n == 0:
		h.start(k)
		h.say("%s starts beside %s", h.processesOf(k)[1].Name, running[0].Name)
	case n == 1:
		h.say("%s crashes", running[0].Name)
		h.crash(running[0])
		h.settle()
		h.start(k)
		h.say("%s starts", h.processesOf(k)[0].Name)
	}
}

// processesOf are the processes of a kind that run, the older first.
func (h *history) processesOf(k *kind) []*Process {
	return slices.DeleteFunc(slices.Clone(h.processes), func(p *Process) bool { return p.kind != k })
}
