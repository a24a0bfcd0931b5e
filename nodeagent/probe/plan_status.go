// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// reportKey names a state in the status.
type reportKey struct {
	pod   types.UID
	probe string
}

// reportedBy returns the states of a status, of two with one name the first.
func reportedBy(n *v1alpha1.NodePodProbe) map[reportKey]*v1alpha1.ContainerProbeState {
	out := map[reportKey]*v1alpha1.ContainerProbeState{}
	if n == nil {
		return out
	}
	for i := range n.Status.PodProbeStatuses {
		pod := &n.Status.PodProbeStatuses[i]
		for j := range pod.ProbeStates {
			if key := (reportKey{pod.UID, pod.ProbeStates[j].Name}); out[key] == nil {
				out[key] = &pod.ProbeStates[j]
			}
		}
	}
	return out
}

// planStatus reports what is known, when a state has changed, or one is to go, and other words of a state after a while. Nothing
// else is worth a write, but for PPM-4.11. (PPM-4.8)
func (p *planner) planStatus() {
	if p.NodePodProbe == nil {
		return
	}
	status, states, changed, words := &v1alpha1.NodePodProbeStatus{ObservedGeneration: p.NodePodProbe.Generation}, 0, false, false
	seen := map[reportKey]bool{}
	for _, q := range p.probes {
		key := reportKey{q.UID, q.ID.Probe}
		before := p.reported[key]
		state := p.report(q, before)
		if state.State == "" || seen[key] { // one name for two containers
			continue
		}
		seen[key] = true
		states++
		add(status, q.ID, state)
		if before != nil && before.State == state.State {
			if before.Message != state.Message {
				words, changed = true, changed || p.uncovers(q)
			}
			continue
		}
		changed = true
		if state.State != v1alpha1.ProbeUnknown {
			p.plan.Changed = append(p.plan.Changed, Changed{q.ID, state.State, q.Probe.Message})
		}
	}
	if words && !changed {
		words = p.wordsDue()
	}
	if changed || words || states != count(&p.NodePodProbe.Status) || p.isLate() {
		p.plan.Status = status
	}
}

// firstState is how long a probe is waited for that has no state yet.
const firstState = time.Minute

// isLate tells whether the status has to say by itself that another spec was seen. It has to if that spec changes no state,
// or if its states are long in coming. (PPM-4.11)
func (p *planner) isLate() bool {
	if !apply.IsLate(p.NodePodProbe.Status.ObservedGeneration, p.NodePodProbe) {
		return false
	}
	late := true
	for _, q := range p.probes {
		if until := q.Probe.First.Add(firstState); q.refused == "" && q.Probe.State == "" && until.After(p.Now) {
			p.requeueAt(until)
			late = false
		}
	}
	return late
}

// wordsAfter is how long the words of a state stand at least while the state stays the same. It is also how long a status waits
// to be written if nothing but words changes. So a command that prints something else each time costs no request a run.
// (PPM-4.13)
const wordsAfter = 10 * time.Second

// report is what the status says of a probe. What stands there stays, with its times, if nothing is to be said that is new.
func (p *planner) report(q *probe, before *v1alpha1.ContainerProbeState) v1alpha1.ContainerProbeState {
	if q.refused != "" {
		return v1alpha1.ContainerProbeState{Name: q.ID.Probe, State: v1alpha1.ProbeUnknown, Message: q.refused}
	}
	now := v1alpha1.ContainerProbeState{
		Name: q.ID.Probe, State: q.Probe.State, Message: q.Probe.Message, LastProbeTime: stamp(q.Probe.ProbedAt), LastTransitionTime: stamp(q.Probe.Since)}
	if q.Probe.Output != "" && !q.hidden {
		now.Message = q.Probe.Output
	}
	if before == nil || before.State != now.State {
		return now
	}
	if due := p.wordsAt(before); before.Message != now.Message && !p.uncovers(q) && due.After(p.Now) {
		p.requeueAt(due)
		return *before
	}
	if before.Message == now.Message {
		return *before
	}
	return now
}

// wordsAt is when a state that is reported may have other words.
func (p *planner) wordsAt(s *v1alpha1.ContainerProbeState) time.Time {
	if s.LastProbeTime == nil || s.LastProbeTime.After(p.Now) { // of another clock
		return p.Now
	}
	return s.LastProbeTime.Add(time.Second + wordsAfter) // the status has no fractions of seconds
}

// wordsDue tells whether a status may be written in which nothing but words is another: its newest words are old enough.
func (p *planner) wordsDue() bool {
	due := p.Now
	for _, s := range p.reported {
		if at := p.wordsAt(s); at.After(due) {
			due = at
		}
	}
	if due.After(p.Now) {
		p.requeueAt(due)
		return false
	}
	return true
}

// uncovers tells whether the status may have what a command printed that is to be hidden. That is so if this agent, or one of
// OpenKruise, had not seen the spec that hides it by then. (PPM-4.7)
func (p *planner) uncovers(q *probe) bool {
	return q.hidden && p.NodePodProbe.Status.ObservedGeneration != p.NodePodProbe.Generation
}

// stamp is a time as it stands in objects; nil for none.
func stamp(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t.Truncate(time.Second)}
}

// add adds a state. The probes of a pod follow each other.
func add(status *v1alpha1.NodePodProbeStatus, id ID, state v1alpha1.ContainerProbeState) {
	last := len(status.PodProbeStatuses) - 1
	if last < 0 || status.PodProbeStatuses[last].UID != id.UID {
		status.PodProbeStatuses = append(status.PodProbeStatuses, v1alpha1.PodProbeStatus{Namespace: id.Namespace, Name: id.Pod, UID: id.UID})
		last++
	}
	status.PodProbeStatuses[last].ProbeStates = append(status.PodProbeStatuses[last].ProbeStates, state)
}

// count counts the states of a status, and pods that have none.
func count(status *v1alpha1.NodePodProbeStatus) (n int) {
	for i := range status.PodProbeStatuses {
		n += max(len(status.PodProbeStatuses[i].ProbeStates), 1)
	}
	return n
}
