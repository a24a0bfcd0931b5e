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

// planStatus reports what is known, where a state has changed, or one is to go. Nothing else is worth a write,
// but for PPM-4.11. (PPM-4.8)
func (p *planner) planStatus() {
	if p.NodePodProbe == nil {
		return
	}
	status, states, changed := &v1alpha1.NodePodProbeStatus{ObservedGeneration: p.NodePodProbe.Generation}, 0, false
	seen := map[reportKey]bool{}
	for _, q := range p.probes {
		state := q.report()
		key := reportKey{q.UID, q.ID.Probe}
		if state.State == "" || seen[key] { // one name for two containers
			continue
		}
		seen[key] = true
		states++
		add(status, q.ID, state)
		before := p.reported[key]
		if before != nil && before.State == state.State {
			continue
		}
		changed = true
		if state.State != v1alpha1.ProbeUnknown {
			p.plan.Changed = append(p.plan.Changed, Changed{q.ID, state.State, state.Message})
		}
	}
	if changed || states != count(&p.NodePodProbe.Status) || p.isLate() {
		p.plan.Status = status
	}
}

// firstState is how long a probe is waited for that has no state yet.
const firstState = time.Minute

// isLate tells whether the status has to say by itself that another spec was seen: it changes no state, or those that it will
// bring are long in coming. (PPM-4.11)
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

// report is what the status says of a probe.
func (q *probe) report() v1alpha1.ContainerProbeState {
	if q.refused != "" {
		return v1alpha1.ContainerProbeState{Name: q.ID.Probe, State: v1alpha1.ProbeUnknown, Message: q.refused}
	}
	return v1alpha1.ContainerProbeState{
		Name: q.ID.Probe, State: q.Probe.State, Message: q.Probe.Message, LastProbeTime: stamp(q.Probe.ProbedAt), LastTransitionTime: stamp(q.Probe.Since)}
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
