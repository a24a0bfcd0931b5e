// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	internalpodstate "github.com/podwright/podwright/internal/podstate"
)

// Plan is what to do about a PersistentPodState now: data, to be looked at, compared and applied. The
// same Snapshot gives the same Plan.
type Plan struct {
	// Generated is what a workload asks for by annotations, and For is that workload. If it says to write
	// anything, the rest is for the next reconcile. (PPS-21 to PPS-23)
	Generated podstate.Generated
	For       *podstate.Workload

	// Status is the status to write; nil if it stands already. (PPS-9)
	Status *v1alpha1.PersistentPodStateStatus
	// Replace are the pods to delete, so that they are placed elsewhere. (PPS-19)
	Replace []podstate.Stuck

	// Record is what was computed, whether it stands already or not; nil if it cannot be told.
	Record *podstate.Record
	// Waiting are the pods that are to be replaced if their nodes do not come back.
	Waiting []rollout.Wait
	// RequeueAfter is the time after which the plan may be another without any event;
	// 0 when only events can change it.
	RequeueAfter time.Duration

	// Problems say why the status cannot be told, and does not change. Empty if it can.
	Problems []rollout.Problem

	now time.Time // that of the Snapshot
}

// NewPlan decides what to do about a PersistentPodState. It never fails: a Snapshot of nothing gives an empty plan with
// that problem.
func NewPlan(s *Snapshot) *Plan {
	p := &Plan{}
	if s == nil || s.State == nil && len(s.Namesakes) == 0 {
		p.Problems = rollout.ProblemsOf(errors.New("the Snapshot has neither a State nor a workload that asks for one; give it one of them"))
		return p
	}
	for _, w := range s.Namesakes {
		g := podstate.Generate(w, s.State)
		if told := p.Generated.Problem != ""; g == (podstate.Generated{}) || told && g.Problem != "" {
			continue
		}
		if p.Generated, p.For = g, w; p.generates() {
			break
		}
	}
	switch {
	case s.State == nil || p.generates():
		return p
	case s.Unknown != nil:
		p.Problems = rollout.ProblemsOf(s.Unknown)
		return p
	}
	in := podstate.Input{State: s.State, Workload: s.Workload, Pods: s.Pods, Nodes: podstate.NewNodes(s.Nodes), Now: s.Now}
	p.Record = podstate.Compute(in)
	if !podstate.Equal(&s.State.Status, &p.Record.Status) {
		p.Status = &p.Record.Status
	}
	p.planReplacements(in)
	p.lookAgain(s)
	return p
}

// ruleNodeMissing: no node there is as the pod asks for. One that is replaced may come back, within as many seconds as the limit says.
const ruleNodeMissing rollout.Rule = "NodeMissing"

// generates tells whether the plan writes what a workload asks for.
func (p *Plan) generates() bool {
	return p.Generated.Create != nil || p.Generated.Update != nil || p.Generated.Delete
}

// planReplacements finds the pods that wait in vain. The condition that they are lost is written before the first of them
// goes, since they wait from then on.
func (p *Plan) planReplacements(in podstate.Input) {
	p.now = in.Now
	after := *in.State
	after.Status = p.Record.Status
	in.State = &after
	for _, stuck := range podstate.FindStuck(in) {
		if stuck.After == 0 {
			p.Replace = append(p.Replace, stuck)
		} else {
			wait := rollout.PodWaits(stuck.Pod, &rollout.Reason{Rule: ruleNodeMissing, Limit: int32(podstate.StuckFor / time.Second), Message: stuck.Reason})
			wait.Since = stuck.Since
			p.Waiting = append(p.Waiting, wait)
		}
	}
}

// lookAgain says when to look at what no event may tell of. That is the end of a wait, a node that comes
// after its pod, and nodes that go while a pod waits for them.
func (p *Plan) lookAgain(s *Snapshot) {
	for i := range p.Waiting {
		p.within(p.replacedAfter(&p.Waiting[i]))
	}
	if len(p.Record.UnknownNodes) > 0 {
		p.within(podstate.StuckFor)
	}
	for _, pod := range s.Pods {
		if pod.Spec.NodeName == "" && placedBy(pod) == s.State.Name && internalpodstate.Active(pod) {
			p.within(podstate.StuckFor)
		}
	}
}

// replacedAfter is how long a pod waits still before it is replaced.
func (p *Plan) replacedAfter(wait *rollout.Wait) time.Duration {
	return wait.Since.Add(podstate.StuckFor).Sub(p.now)
}

func (p *Plan) within(after time.Duration) {
	if p.RequeueAfter == 0 || after < p.RequeueAfter {
		p.RequeueAfter = after
	}
}

// placedBy is the name of the PersistentPodState that has placed a pod; empty for none.
func placedBy(pod *corev1.Pod) string {
	return pod.Annotations[v1alpha1.InjectedPersistentPodStateAnnotation]
}

// String says what the plan does, a line for each thing; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch g := &p.Generated; {
	case g.Create != nil:
		say("create, as %s %s asks for", p.For.Kind, p.For.Name)
	case g.Update != nil:
		say("change the spec, as %s %s asks for", p.For.Kind, p.For.Name)
	case g.Delete:
		say("delete, since %s %s does not ask for it any more", p.For.Kind, p.For.Name)
	case g.Problem != "":
		say("not generated: %s", g.Problem)
	}
	if p.Status != nil {
		say("status: %d pods, %d lost", p.Status.Pods, p.Status.Lost)
		for _, name := range p.Record.Recorded {
			say("record %s on %s", name, p.Status.PodStates[name].NodeName)
		}
		for _, name := range p.Record.Dropped {
			say("drop %s", name)
		}
	}
	for _, stuck := range p.Replace {
		say("delete %s: %s", stuck.Pod.Name, stuck.Reason)
	}
	for i := range p.Waiting {
		wait := &p.Waiting[i]
		say("in %s %s is deleted: %s", p.replacedAfter(wait), wait.Name, wait.Reason.Message)
	}
	for _, problem := range p.Problems {
		say("%s", problem)
	}
	return strings.Join(lines, "\n")
}
