// SPDX-License-Identifier: Apache-2.0

package recreate

import "strings"

// String says what the plan does and what waits, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	for i := range p.Answers {
		lines = append(lines, "answer "+p.Answers[i].Request.Name+": "+p.Answers[i].Why)
	}
	if p.Write != nil {
		lines = append(lines, "write the status of "+p.Write.Request.Name+": "+p.Write.Why)
	}
	if p.Stop != nil {
		lines = append(lines, "stop container "+p.Stop.Container)
	}
	for _, w := range p.Waiting {
		lines = append(lines, w.Line())
	}
	return strings.Join(lines, "\n")
}
