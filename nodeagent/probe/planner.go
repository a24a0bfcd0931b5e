// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan  *Plan
	known map[ID]*Probe
	// reported are the states of the status.
	reported map[reportKey]*v1alpha1.ContainerProbeState

	probes []*probe // in the order of the spec, each once
	of     map[ID]*probe
	places map[string]int // how many probes are run, by namespace
	share  int            // and how many of each may be
}

// probe is a probe with all that is known of it.
type probe struct {
	ID
	spec *corev1.Probe
	// hidden says that what its command prints goes nowhere.
	hidden bool
	// Probe is what is remembered of it, as it will be; refused says why it is never run.
	Probe   Probe
	refused string
}

func newPlanner(s *Snapshot) *planner {
	p := &planner{Snapshot: s, plan: &Plan{Paced: s.Paced}, known: make(map[ID]*Probe, len(s.Probes)), of: map[ID]*probe{}, reported: reportedBy(s.NodePodProbe), places: map[string]int{}}
	p.share = images.Share(wanted(s.NodePodProbe), s.Limits.probes())
	for i := range s.Probes {
		p.known[s.Probes[i].ID] = &s.Probes[i]
	}
	return p
}

// wanted counts the probes of a NodePodProbe that can be run, by namespace.
func wanted(n *v1alpha1.NodePodProbe) map[string]int {
	count := map[string]int{}
	if n == nil {
		return count
	}
	for i := range n.Spec.PodProbes {
		pod := &n.Spec.PodProbes[i]
		for j := range pod.Probes {
			if refusal(&pod.Probes[j].Probe) == "" {
				count[pod.Namespace]++
			}
		}
	}
	return count
}

// planProbes collects the probes that the spec asks for, and drops what is known of others.
func (p *planner) planProbes() {
	if p.NodePodProbe != nil {
		for i := range p.NodePodProbe.Spec.PodProbes {
			pod := &p.NodePodProbe.Spec.PodProbes[i]
			for j := range pod.Probes {
				p.add(ID{pod.Namespace, pod.Name, pod.UID, pod.Probes[j].ContainerName, pod.Probes[j].Name}, &pod.Probes[j])
			}
		}
	}
	for i := range p.Snapshot.Probes {
		if of := p.of[p.Snapshot.Probes[i].ID]; of == nil || of.refused != "" {
			p.plan.Forget = append(p.plan.Forget, p.Snapshot.Probes[i].ID)
		}
	}
	slices.SortFunc(p.plan.Forget, compare)
}

// add adds a probe of the spec. (PPM-4.10)
func (p *planner) add(id ID, of *v1alpha1.ContainerProbe) {
	if p.of[id] != nil {
		return
	}
	spec := &of.Probe
	q := &probe{ID: id, spec: spec, hidden: of.HideOutput, refused: refusal(spec)}
	reason := &rollout.Reason{Rule: ruleNeverRun, Message: q.refused}
	switch has := p.places[id.Namespace]; {
	case q.refused != "":
	case has >= p.share:
		q.refused = fmt.Sprintf("the node runs %d probes at most, and %d of namespace %s: this one is not run", p.Limits.probes(), has, id.Namespace)
		reason = &rollout.Reason{Rule: ruleMostProbes, Limit: int32(p.share), Observed: int32(has), Message: q.refused}
	default:
		p.places[id.Namespace]++
	}
	p.probes, p.of[id] = append(p.probes, q), q
	if q.refused != "" {
		p.wait(id, time.Time{}, reason)
		return
	}
	before := p.known[id]
	switch {
	case before == nil:
		q.Probe = p.begin(q)
	case !equality.Semantic.DeepEqual(before.Handler, spec.ProbeHandler):
		q.Probe = p.again(q, before)
	default:
		q.Probe = *before
		return
	}
	p.plan.Begin = append(p.plan.Begin, q.Probe)
}

// refusal says why a probe is never run; empty if it is. (PPM-4.4)
func refusal(spec *corev1.Probe) string {
	switch {
	case spec.Exec != nil && len(spec.Exec.Command) > 0:
	case spec.HTTPGet != nil && spec.HTTPGet.Host == "":
	case spec.TCPSocket != nil && spec.TCPSocket.Host == "":
	case spec.HTTPGet != nil || spec.TCPSocket != nil:
		return "it has a host, and a probe goes to the pod: it is not run"
	default:
		return "it has no handler that is known: exec, httpGet or tcpSocket"
	}
	return ""
}

// begin begins with a probe that is not known, from what has been reported. A probe waits for a part of its period if it
// begins within one period of the agent's start. So the probes of a node do not run all at once. (PPM-4.2, PPM-4.8)
func (p *planner) begin(q *probe) Probe {
	out := Probe{ID: q.ID, Handler: q.spec.ProbeHandler, First: p.Now}
	if period := period(q.spec); p.Now.Before(p.Began.Add(period)) {
		out.First = p.Now.Add(time.Duration(images.Spread(int32(min(period/time.Millisecond, 1<<30)), q.Namespace, q.Pod, string(q.UID), q.Container, q.ID.Probe)) * time.Millisecond)
	}
	if before := p.reported[reportKey{q.UID, q.ID.Probe}]; before != nil {
		switch out.State = before.State; {
		case q.spec.Exec != nil && !q.hidden:
			out.Output = before.Message
		case !p.uncovers(q):
			out.Message = before.Message
		}
		if before.LastProbeTime != nil {
			out.ProbedAt = before.LastProbeTime.Time
		}
		if before.LastTransitionTime != nil {
			out.Since = before.LastTransitionTime.Time
		}
	}
	return out
}

// again begins again with a probe that has another handler: what the former has said is not known of this one. (PPM-4.6)
func (p *planner) again(q *probe, before *Probe) Probe {
	out := Probe{
		ID: q.ID, Handler: q.spec.ProbeHandler, First: p.Now, ContainerID: before.ContainerID, StartedAt: before.StartedAt,
		State: before.State, Message: before.Message, Output: before.Output, ProbedAt: before.ProbedAt, Since: before.Since,
	}
	if out.State != "" {
		out.become(v1alpha1.ProbeUnknown, "", p.Now)
	}
	return out
}

// due is when a probe is due: a period after it was run last, as long as the period is now. (PPM-4.2)
func (q *probe) due() time.Time {
	if q.Probe.Last.IsZero() {
		return q.Probe.First
	}
	at := q.Probe.Last.Add(period(q.spec))
	if retry := q.Probe.Retry; !retry.IsZero() && retry.Before(at) {
		return retry
	}
	return at
}

func period(spec *corev1.Probe) time.Duration { return seconds(spec.PeriodSeconds) }

// seconds is a number of seconds of a probe, for which 0 stands for 1.
func seconds(n int32) time.Duration { return time.Duration(max(n, 1)) * time.Second }

func compare(a, b ID) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.UID, b.UID),
		cmp.Compare(a.Container, b.Container), cmp.Compare(a.Probe, b.Probe))
}
