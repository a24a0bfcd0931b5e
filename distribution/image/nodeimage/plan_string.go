// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"strings"

	"github.com/podwright/podwright/internal/images"
)

// String says what the plan does and what waits, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	add := func(is bool, line string) {
		if is {
			lines = append(lines, line)
		}
	}
	if p.Create != nil {
		lines = append(lines, "create NodeImage "+p.Create.Name)
	}
	add(p.Delete, "delete the NodeImage")
	add(p.Change != nil, "write the tasks of the node")
	for _, d := range p.Dropped {
		lines = append(lines, "drop "+images.TaskReference(d.Image, d.Tag)+": "+d.Reason)
	}
	add(p.Status != nil, "write the status")
	for _, f := range p.Failed {
		lines = append(lines, "give up "+images.TaskReference(f.Image, f.Tag)+": "+f.Message)
	}
	lines = append(lines, p.Pulls.lines()...)
	for _, w := range p.Waiting {
		lines = append(lines, w.Line())
	}
	return strings.Join(lines, "\n")
}

// lines says what is done about pods that pull.
func (p *Pulls) lines() (lines []string) {
	for _, pod := range p.Delete {
		lines = append(lines, "delete pod "+pod.Name)
	}
	for _, pod := range p.Create {
		lines = append(lines, "create pod "+pod.Name)
	}
	for _, w := range p.Waiting {
		lines = append(lines, w.Line())
	}
	return lines
}
