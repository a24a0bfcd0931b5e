// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
)

// withHeldUp adds to a message what has kept the job from its end for a minute, and since when: the status has no conditions. Nodes
// that pull hold nothing up. (IMG-1.9)
func (p *planner) withHeldUp(message string) string {
	p.listHeld()
	told := heldup.Tell(p.plan.Held, p.HeldSince, nil, p.Now)
	if told == nil {
		return message
	}
	p.plan.HeldTexts = append(p.plan.HeldTexts, fmt.Sprintf("%s: %s", told.Reason, told.Message))
	return message + "; " + heldup.Text(told)
}

// listHeld lists what keeps the job from its end. What holds for all nodes stands there once. Then come the nodes that wait
// for something of their own.
func (p *planner) listHeld() {
	whole := map[rollout.Rule]bool{}
	for i := range p.plan.Waiting {
		w := &p.plan.Waiting[i]
		switch rule := w.Reason.Rule; heldup.Of(rule).Scope {
		case heldup.Whole:
			if !whole[rule] {
				p.plan.Held = append(p.plan.Held, rollout.Wait{Subject: rollout.Subject{Name: string(rule)}, Reason: w.Reason})
			}
			whole[rule] = true
		case heldup.Object:
			p.plan.Held = append(p.plan.Held, *w)
		case heldup.Behind, heldup.Reported, heldup.Asked:
		}
	}
}
