// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"strings"
)

// String says what the plan does and what is wrong, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	if p.Finalizers != nil {
		lines = append(lines, strings.TrimSpace("set the finalizers: "+strings.Join(*p.Finalizers, ", ")))
	}
	if p.Status != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d pods matched", p.Status.MatchedPods))
	}
	for _, left := range p.LeftOut {
		lines = append(lines, "leave out "+left)
	}
	if p.Waiting != "" {
		lines = append(lines, "wait: "+p.Waiting)
	}
	if p.Problem != nil {
		lines = append(lines, "problem: "+p.Problem.Error())
	}
	return strings.Join(lines, "\n")
}
