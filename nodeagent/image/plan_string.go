// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"

	"github.com/podwright/podwright/internal/images"
)

// String says what the plan does and what waits, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	if p.ListImages {
		lines = append(lines, "list the images of the node")
	}
	for i := range p.Start {
		lines = append(lines, "pull "+p.Start[i].name())
	}
	for _, a := range p.Adopt {
		lines = append(lines, "go on pulling "+a.name())
	}
	for _, c := range p.Cancel {
		lines = append(lines, "cancel "+c.name()+": "+c.Reason)
	}
	for i := range p.Finished {
		f := &p.Finished[i]
		what := "finished "
		if f.Failed {
			what = "failed "
		}
		lines = append(lines, strings.TrimSuffix(what+f.name()+": "+f.Message, ": "))
	}
	if p.Status != nil {
		lines = append(lines, "write the status")
	}
	for _, w := range p.Waiting {
		lines = append(lines, w.Line())
	}
	return strings.Join(lines, "\n")
}

// name names the image of a task as users do.
func (t Task) name() string { return images.TaskReference(t.Image, t.Tag) }
