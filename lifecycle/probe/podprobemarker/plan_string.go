// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"strings"
)

// String says what the plan does and what is wrong, one thing a line; empty for nothing.
func (plan *Plan) String() string {
	var lines []string
	if plan.Finalizers != nil {
		lines = append(lines, strings.TrimSpace("set the finalizers: "+strings.Join(*plan.Finalizers, ", ")))
	}
	if plan.Status != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d pods matched", plan.Status.MatchedPods))
	}
	for _, left := range plan.LeftOut {
		lines = append(lines, "leave out "+left)
	}
	for _, wait := range plan.Waiting {
		lines = append(lines, wait.Line())
	}
	for _, problem := range plan.Problems {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}
