// SPDX-License-Identifier: Apache-2.0

package probe

import "strings"

// String says what the plan does and what waits, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	for i := range p.Begin {
		lines = append(lines, "begin with "+p.Begin[i].name())
	}
	for i := range p.Forget {
		lines = append(lines, "forget "+p.Forget[i].name())
	}
	for i := range p.Start {
		lines = append(lines, "run "+p.Start[i].name())
	}
	for i := range p.Changed {
		lines = append(lines, strings.TrimSuffix("note "+p.Changed[i].name()+" as "+string(p.Changed[i].State)+": "+p.Changed[i].Message, ": "))
	}
	if p.Status != nil {
		lines = append(lines, "write the status")
	}
	for i := range p.Waiting {
		lines = append(lines, p.Waiting[i].Line())
	}
	return strings.Join(lines, "\n")
}

// name names a probe and its container.
func (id *ID) name() string {
	return "probe " + id.Probe + " of pod " + id.Namespace + "/" + id.Pod + ", container " + id.Container
}
