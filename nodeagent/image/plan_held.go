// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"

	"github.com/podwright/podwright/internal/heldup"
)

// rulePullSlot is that a task waits for its turn among the pulls of the node. (IMG-3.13)
const rulePullSlot = heldup.PullSlot

// holdUp has the message of a task say that it has waited for its turn for a minute, since it was reported first. It names
// the pulls that are under way. One whose attempt has failed says why that did. (IMG-3.13)
func (p *planner) holdUp(t *task, full string) {
	if t.failures() > 0 || t.status.Message != "" {
		return
	}
	since := p.begun(t)
	if due := since.Add(heldup.After); due.After(p.Now) {
		p.requeueAt(due)
		return
	}
	standing := ""
	if t.reported != nil {
		standing = t.reported.Message
	}
	t.status.Message = heldup.Retell(standing, &heldup.Told{Reason: string(rulePullSlot), Since: since,
		Message: fmt.Sprintf("image %s: %s", reference(t.Task), full)})
}
