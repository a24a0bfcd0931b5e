// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"slices"
	"time"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent/internal/shares"
)

// planRuns starts what is due, of the namespace that has the fewest under way first. (PPM-4.2, PPM-4.10)
func (p *planner) planRuns() {
	under, due := map[string]int{}, []*probe{}
	for _, q := range p.probes {
		if q.refused != "" {
			continue
		}
		if q.Probe.Running {
			p.forgetOld(q, "")
		}
		if q.Probe.Running {
			p.forgetAt(q)
			under[q.Namespace]++
			continue
		}
		if at := q.due(); at.After(p.Now) {
			p.forgetOld(q, "")
			p.requeueAt(at)
			continue
		}
		due = append(due, q)
	}
	slices.SortStableFunc(due, func(a, b *probe) int { return a.due().Compare(b.due()) })
	for i := p.turn(due, under); i >= 0; i = p.turn(due, under) {
		if !p.start(due[i]) {
			break
		}
		p.forgetOld(due[i], "")
		under[due[i].Namespace]++
		due = slices.Delete(due, i, i+1)
	}
	full := fmt.Sprintf("%d probes are under way", p.Running+len(p.plan.Start))
	if len(under) > 0 {
		full += ", of " + shares.Text(under)
	}
	pace := &rollout.Reason{Rule: rulePace, Message: "the node has started enough probes for now"}
	concurrency := &rollout.Reason{Rule: ruleConcurrency, Limit: int32(p.Limits.concurrency()), Observed: int32(p.Running + len(p.plan.Start)), Message: full}
	for _, q := range due {
		why := pace
		if p.turn([]*probe{q}, under) < 0 {
			why = concurrency
		}
		p.forgetOld(q, why.Message)
		p.forgetAt(q)
		p.wait(q.ID, q.due(), why)
	}
}

// turn returns which of the probes that are due is started next. It is one of the namespace that has the fewest under way, and of
// several the first. It is -1 if none may be started. A namespace of which none is under way may start one beyond the limit, as
// long as there are not twice as many. So commands of others that do not end hold up no probe. (PPM-4.10)
func (p *planner) turn(due []*probe, under map[string]int) int {
	best, most, running := -1, p.Limits.concurrency(), p.Running+len(p.plan.Start)
	for i, q := range due {
		has := under[q.Namespace]
		if running >= most && (has > 0 || running >= 2*most) {
			continue
		}
		if best < 0 || has < under[due[best].Namespace] {
			best = i
		}
	}
	return best
}

// start starts a run, and tells whether the pace of the node allows it.
func (p *planner) start(q *probe) bool {
	pace, burst := p.Limits.pace()
	next := p.plan.Paced
	if next.Add(-burst).After(p.Now) {
		p.requeueAt(next.Add(-burst))
		return false
	}
	if next.Before(p.Now) {
		next = p.Now
	}
	p.plan.Paced = next.Add(pace)
	p.plan.Start = append(p.plan.Start, Start{ID: q.ID, Handler: q.spec.ProbeHandler,
		Timeout: min(seconds(q.spec.TimeoutSeconds), p.Limits.timeout()), InitialDelay: seconds(q.spec.InitialDelaySeconds),
		ContainerID: q.Probe.ContainerID, StartedAt: q.Probe.StartedAt, HideOutput: q.hidden})
	return true
}

// How long a state stands without a run: so many periods, but at least oldAtLeast. In that time the busiest node runs each of
// its probes several times.
const (
	oldPeriods = 5
	oldAtLeast = 2 * time.Minute
)

// old is when the state of a probe is that of a run too long ago, also if it has none yet. It is zero if the state is Unknown and
// says why, or if a run is under way that will tell.
func (q *probe) old() (at time.Time, after time.Duration) {
	if unknown := q.Probe.State == v1alpha1.ProbeUnknown; unknown && q.Probe.Message != "" || (unknown || q.Probe.State == "") && q.Probe.Running {
		return time.Time{}, 0
	}
	last := q.Probe.Last
	if last.IsZero() {
		last = q.Probe.First
	}
	after = max(oldPeriods*period(q.spec), oldAtLeast)
	return last.Add(after), after
}

// forgetOld makes a state Unknown that is of a run too long ago: something has kept the probe from being run. What that is now, if it
// is known, is told too, as of then: it would change all the time. (PPM-4.12)
func (p *planner) forgetOld(q *probe, why string) {
	if at, after := q.old(); !at.IsZero() && !at.After(p.Now) {
		q.Probe.Running, q.Probe.Result, q.Probe.Count = false, "", 0
		message := fmt.Sprintf("the probe has not been run for %v, %d of its periods or more", after, oldPeriods)
		if why != "" {
			message += ": " + why
		}
		q.Probe.become(v1alpha1.ProbeUnknown, message, p.Now)
		q.Probe.Message = message // also of one that was Unknown
		p.plan.Begin = append(p.plan.Begin, q.Probe)
	}
}

// forgetAt has another plan made when the state of a probe that waits is too old.
func (p *planner) forgetAt(q *probe) {
	if at, _ := q.old(); !at.IsZero() {
		p.requeueAt(at)
	}
}
