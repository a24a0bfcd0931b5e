// SPDX-License-Identifier: Apache-2.0

package launchpriority

import "strings"

// String says what the plan does and what waits, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	if p.Create != nil {
		lines = append(lines, "create ConfigMap "+p.Create.Name)
	}
	if len(p.Add) > 0 {
		lines = append(lines, "add "+strings.Join(p.Add, ", "))
	}
	for _, w := range p.Waiting {
		lines = append(lines, w.Line())
	}
	for _, problem := range p.Problems {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}
