// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"time"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
)

// The reasons for which kubelets do not pull. (IMG-4.4)
const (
	// rulePullSlot: the namespace of a job has as many pods on the node as may be.
	rulePullSlot = heldup.PullSlot
	// ruleNodeAway: the node is not ready, so that no pod is created for it.
	ruleNodeAway rollout.Rule = "NodeAway"
)

// hold notes what a pull waits for, since a time; at the soonest since its task was reported and its job is there. (IMG-4.4)
func (p *planner) hold(t *pullTask, one *pull, rule rollout.Rule, since time.Time, message string) {
	for _, at := range []time.Time{p.began(t).Time, one.job.CreationTimestamp.Time} {
		if at.After(since) {
			since = at
		}
	}
	one.held = &heldup.Told{Reason: string(rule), Since: since, Message: message}
}

// heldUp is what the message says of a task of which a pull has waited for a minute; empty before that. (IMG-4.4)
func (p *planner) heldUp(t *pullTask) string {
	var told *heldup.Told
	for _, one := range t.pulls {
		if one.held != nil && (told == nil || one.held.Since.Before(told.Since)) {
			told = one.held
		}
	}
	if told == nil {
		return ""
	}
	if due := told.Since.Add(heldup.After); due.After(p.Now) {
		p.requeueAt(due)
		return ""
	}
	standing := ""
	if t.reported != nil {
		standing = t.reported.Message
	}
	return heldup.Retell(standing, told)
}
