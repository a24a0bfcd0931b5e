// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// survey finds out what each node has, and which nodes the update may get to. (DS-9)
func (p *planner) survey() {
	p.current = p.RevisionValue(p.plan.Revisions.Current.Name)
	for _, n := range p.nodes {
		n.survey()
		n.inTurn = p.rolling == nil
	}
	if p.rolling == nil {
		return
	}
	var ahead, empty, hurt, rest, away []*nodePods
	for _, n := range slices.Backward(p.nodes) {
		switch {
		case !n.runs:
		case n.ahead():
			ahead = append(ahead, n)
		case !p.selects(n):
		case n.away:
			away = append(away, n)
		case n.old == nil:
			empty = append(empty, n)
		case p.interrupted(n):
			hurt = append(hurt, n)
		default:
			rest = append(rest, n)
		}
	}
	p.turn = slices.Concat(ahead, empty, hurt, rest, away)
	p.turn = p.turn[:min(len(p.turn), int(max(p.desired-p.limits.partition, 0)))]
	if p.plan.Revisions.Refused != nil {
		p.turn = nil
	}
	for _, n := range p.turn {
		n.inTurn = true
	}
}

func (n *nodePods) survey() {
	old, fresh := 0, 0
	for _, pod := range n.pods {
		counted, first := &old, &n.old
		if pod.Updated {
			counted, first = &fresh, &n.fresh
		}
		*counted++
		if *first == nil && !pod.preparing {
			*first = pod
		}
	}
	n.crowded = old > 1 || fresh > 1
}

// ahead tells whether an update has got to a node, or has to put it right. (DS-9)
func (n *nodePods) ahead() bool {
	return n.crowded || n.has(func(pod *pod) bool { return pod.Updated })
}

func (n *nodePods) has(which func(*pod) bool) bool { return slices.ContainsFunc(n.pods, which) }

// selects tells whether the update is about a node.
func (p *planner) selects(n *nodePods) bool { return p.chosen.Matches(labels.Set(n.node.Labels)) }

// interrupted tells whether the old pod of a node is out of service, and may be so because of an earlier update. That is the case
// if it is remembered, or the pod has never been available. It is too if the pod's revision is between the current and the
// present one. (DS-11)
func (p *planner) interrupted(n *nodePods) bool {
	pod := n.old
	return !pod.Available && (p.Disrupted[n.name] || pod.Labels[podplan.RevisionLabel] != p.current || pod.neverReady() || p.neverAvailable(pod))
}

// neverAvailable tells whether a pod has surely not been available for a moment since it
// was created or updated in place. Then it became ready, or unready, too short a time
// after that. (DS-11)
func (p *planner) neverAvailable(pod *pod) bool {
	c := readiness.Condition(pod.Pod, corev1.PodReady)
	return c == nil || c.LastTransitionTime.Sub(pod.since()) <= time.Duration(p.Set.Spec.MinReadySeconds)*time.Second
}

// neverReady tells whether a pod has surely not been ready for a moment since it was
// created or updated in place. (DS-11)
func (p *pod) neverReady() bool { return podstate.NeverReady(p.Pod, p.since()) }

// since is when a pod was created, or last updated in place.
func (p *pod) since() time.Time {
	since := p.CreationTimestamp.Time
	if c := readiness.Condition(p.Pod, inplacev1alpha1.InPlaceUpdateReady); c != nil && c.LastTransitionTime.After(since) {
		since = c.LastTransitionTime.Time
	}
	return since
}
