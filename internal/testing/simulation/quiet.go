// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"slices"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// Bounds of what happens until all is quiet.
const (
	quietFor     = time.Hour
	mostRounds   = 3000
	mostRequests = 500
)

// quiet ends all disturbances and waits until nothing has happened for an hour.
// So it does while policies stand that refuse something, when they have ended,
// and when the users have pushed a template whose pods run. If a webhook is asked, all
// pods of workloads are drained then.
func (h *history) quiet() {
	h.step = 0
	h.endRivals()
	if h.inTurn(h.deadForGood, h.endDead, h.settleRefused, h.settleUnpushed); h.failed() {
		return
	}
	h.settled = true
	defer func() { h.settled = false }()
	if h.workload.Ask != nil {
		h.workload.Ask(h.user(h.kinds[0]))
		if h.settleUnpushed(); h.failed() {
			return
		}
	}
	h.drainedBy = time.Now().Add(longestDrain)
	if h.inTurn(h.push, h.settlePushed); h.failed() || len(h.webhooks) == 0 {
		return
	}
	h.drainedBy = time.Now().Add(longestDrain)
	for _, pod := range h.podList() {
		if pod.DeletionTimestamp == nil && metav1.GetControllerOfNoCopy(pod) != nil {
			h.user(h.kinds[0]).Drain(pod)
		}
	}
	h.settlePushed()
}

// inTurn does one thing after the other, until one fails or something does not hold.
func (h *history) inTurn(things ...func()) {
	for _, do := range things {
		if do(); h.failed() {
			return
		}
	}
}

// settleRefused has all settle while policies stand: what they refuse must not hold up anything else.
func (h *history) settleRefused() {
	if len(h.policies) == 0 {
		return
	}
	h.say("nothing more happens while there is %s", &h.policies[0])
	h.policiesStay = true
	if h.settleUnpushed(); h.failed() {
		return
	}
	h.say("admin: takes back what is forbidden")
	h.policies = nil
}

// endRivals leaves one process of each kind, and nothing that ails pods.
func (h *history) endRivals() {
	for _, k := range h.kinds {
		for running := h.processesOf(k); len(running) > 1; running = running[1:] {
			h.say("%s ends", running[0].Name)
			h.crash(running[0])
		}
	}
	clear(h.sick)
}

func (h *history) push() {
	for _, k := range h.kinds {
		user := h.user(k)
		if user.Workload() == nil {
			user.Create()
			h.settle()
		}
		k.Push(user)
		h.settle()
	}
}

func (h *history) settleUnpushed() { h.settleAndJudge(false) }
func (h *history) settlePushed()   { h.settleAndJudge(true) }

func (h *history) settleAndJudge(pushed bool) {
	h.inTurn(h.untilSettled, func() { h.judgeSettled(pushed) })
}

// untilSettled lets everybody act until nothing has happened for an hour.
func (h *history) untilSettled() {
	h.sent, h.refused, h.reads = 0, 0, 0
	calm := time.Now()
	for range mostRounds {
		synctest.Wait() // what wakes at the same moment has acted
		version, writes := h.version, h.sent-h.refused-h.reads
		if h.round(); h.failed() {
			return
		}
		h.collectGarbage(nil)
		h.sweepAll()
		switch {
		case h.sent > mostRequests*len(h.kinds):
			h.violate(invariants.Calm, "%d requests, and no end", h.sent)
			return
		case h.version != version || h.sent-h.refused-h.reads != writes:
			calm = time.Now()
			time.Sleep(time.Millisecond)
		case len(h.requests.waiting) > 0 || slices.ContainsFunc(h.processes, func(p *Process) bool { return p.busy() && !p.waits() }):
			time.Sleep(time.Millisecond)
		case slices.ContainsFunc(h.processes, (*Process).waits):
			time.Sleep(10 * time.Millisecond)
		case h.workload.StartIn > 0 && slices.ContainsFunc(h.podList(), h.starting):
			time.Sleep(time.Second)
		case h.underWay():
			time.Sleep(time.Second)
		case len(h.drains) > 0 && !h.drainedBy.IsZero():
			time.Sleep(tryAgain)
		case time.Since(calm) >= h.patience():
			return
		default:
			h.sleepUntilDue(calm.Add(h.patience()))
		}
	}
	h.violate(invariants.Calm, "does not settle in %d rounds", mostRounds)
}

// patience is how long nothing may happen until all has settled: long enough for who backs off, when what it failed for
// may be over.
func (h *history) patience() time.Duration {
	backsOff := func(p *Process) bool { return p.failures > 0 && !p.held() }
	if !h.drainedBy.IsZero() || len(h.policies) == 0 && slices.ContainsFunc(h.processes, backsOff) {
		return quietFor
	}
	return cmp.Or(h.workload.Patience, quietFor)
}

// sleepUntilDue sleeps until the next reconcile, ten minutes at most if there is none, and not
// longer than until a moment. Nothing may become due before.
func (h *history) sleepUntilDue(most time.Time) {
	due := h.nextDue()
	if due.IsZero() {
		time.Sleep(min(10*time.Minute, time.Until(most)))
		return
	}
	if due.After(most) {
		due = most
	}
	for looks := 8; time.Until(due) > late && looks > 0; looks-- {
		for _, p := range h.processes {
			if p.failures > 0 || p.held() || p.rivalry.explains(p.due) {
				continue
			}
			if unfinished, err := p.controller.Unfinished(); unfinished != "" || err != nil {
				h.violate(invariants.Settled, "the next reconcile of %s is in %v, and there is something to do: %s (error %v)", p.Name, time.Until(p.due), unfinished, err)
				return
			}
		}
		time.Sleep(max(time.Until(due)/time.Duration(looks), late))
	}
	time.Sleep(max(time.Until(due), time.Millisecond))
}

// held tells whether a process waits for a server that has told it to, or has nothing to do since nothing can be created.
func (p *Process) held() bool {
	return p.controller.Held != nil && p.controller.Held() || p.history.ending != nil && !p.kind.Resource.ClusterScoped
}

// late is by how much a reconcile may be late: times of the API are in seconds.
const late = time.Second

// round lets everybody but the garbage collector, which is slow, act once.
func (h *history) round() {
	h.askProbes()
	for _, k := range h.kinds {
		p := h.processesOf(k)[0]
		h.catchUp(p)
		if p.ready(time.Now()) {
			h.reconcile(p)
		}
	}
	for _, p := range h.webhooks {
		h.catchUp(p)
	}
	if !h.drainedBy.IsZero() {
		h.drainAll()
	}
	for len(h.requests.waiting) > 0 && !h.failed() {
		h.serve(h.requests.inOrder()[0], fate{name: "is served"})
	}
	if h.workload.VolumesGrow {
		for _, claim := range sorted[*corev1.PersistentVolumeClaim](h.records[claims].objects) {
			h.drive(claim, true)
		}
	}
	for _, pod := range h.podList() {
		h.sync(pod, true)
	}
	for _, k := range h.kinds {
		if k.Release != nil {
			k.Release(&User{history: h, kind: k, name: "hook"})
		}
	}
	h.settle()
}

func (h *history) judgeSettled(pushed bool) {
	h.showJudges(nil)
	for _, k := range h.kinds {
		p := h.processesOf(k)[0]
		unfinished, err := p.controller.Unfinished()
		if len(h.policies) == 0 && (pushed || !p.held()) && (err != nil || unfinished != "") {
			h.violate(invariants.Settled, "the controller is settled, and there is something to do: %s (error %v)", unfinished, err)
		}
		for _, v := range k.judge.Settled(h.truth(k), pushed) {
			h.violate(v.Invariant, "%s", v.Message)
		}
	}
}

func (o *outcome) failedFor(invariant invariants.Invariant) bool {
	return slices.ContainsFunc(o.Violations, func(v invariants.Violation) bool { return v.Invariant == invariant })
}
