// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// overdueAfter is how long after the end of its grace a pod may terminate before the job says that it waits for it.
	overdueAfter = time.Minute
	// failedAfter is how long until it counts as failed: its kubelet is dead, or something holds it.
	failedAfter = 15 * time.Minute
)

// isStuck tells whether a pod has terminated for so long that it counts as failed. With Never, its node is waited for. (BJ-28)
func (p *planner) isStuck(pod *corev1.Pod) bool {
	return p.always() && pod.DeletionTimestamp != nil && !p.Now.Before(pod.DeletionTimestamp.Add(failedAfter))
}

// reportTerminating has the job say which pods it waits for that should have terminated long ago. It says which
// of them count as failed from now on. (BJ-28)
func (p *planner) reportTerminating() {
	var overdue, stuck []string
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.pod == nil || n.pod.DeletionTimestamp == nil || !n.former && !n.desired() {
			continue
		}
		name, ends := n.pod.Name+" on node "+n.name, n.pod.DeletionTimestamp.Time
		switch due := ends.Add(overdueAfter); {
		case n.state == Failed && p.isStuck(n.pod) && p.before.of(n.name) == "":
			stuck = append(stuck, name)
		case n.state != Leaving:
		case p.Now.Before(due):
			p.requeueAfter(due.Sub(p.Now))
		default:
			overdue = append(overdue, name)
			if p.always() {
				p.requeueAfter(ends.Add(failedAfter).Sub(p.Now))
			}
		}
	}
	if len(stuck) > 0 {
		p.event(Event{Type: corev1.EventTypeWarning, Reason: eventPodNotTerminated,
			Message: fmt.Sprintf("%s still terminating %s after the end of the grace period, which counts as failed", listed(stuck), failedAfter)})
	}
	message := ""
	if len(overdue) > 0 {
		message = fmt.Sprintf("%s still terminating: if a node is gone for good, delete it, or its pod by force", listed(overdue))
		if p.always() {
			message += fmt.Sprintf("; %s after the end of its grace a pod counts as failed", failedAfter)
		}
		p.event(Event{Type: corev1.EventTypeWarning, Reason: eventPodTerminating, Message: message, Lasting: true})
	}
	p.setTerminating(message)
}

// listed counts pods, and names the first of them.
func listed(pods []string) string {
	if len(pods) == 1 {
		return "pod " + pods[0] + " is"
	}
	return fmt.Sprintf("%d pods (%s) are", len(pods), podplan.FirstNames(pods))
}

// setTerminating has the condition while pods are overdue; an empty message is for none.
func (p *planner) setTerminating(message string) {
	at := slices.IndexFunc(p.status.Conditions, func(c v1alpha1.JobCondition) bool { return c.Type == v1alpha1.JobPodTerminating })
	switch {
	case message == "" && at >= 0:
		p.status.Conditions = slices.Delete(slices.Clone(p.status.Conditions), at, at+1)
	case message != "" && (at < 0 || p.status.Conditions[at].Message != message):
		p.condition(v1alpha1.JobPodTerminating, message)
	}
}
