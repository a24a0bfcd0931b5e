// SPDX-License-Identifier: Apache-2.0

package containermeta

import "strings"

// String says what the plan does and what waits, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	for _, id := range p.Read {
		lines = append(lines, "read the environment of container "+id)
	}
	if p.Report != nil {
		lines = append(lines, "report the containers")
	}
	for _, r := range p.Restarts {
		lines = append(lines, "stop container "+r.Container)
	}
	for _, w := range p.Waiting {
		lines = append(lines, w.Line())
	}
	return strings.Join(lines, "\n")
}
