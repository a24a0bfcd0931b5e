// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import "strings"

// String says what the plan does, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	if p.Confirm {
		lines = append(lines, "ask the API server for the pod, and plan anew")
	}
	if p.Evict {
		lines = append(lines, "evict the pod")
	}
	if p.Note != nil {
		lines = append(lines, "patch the pod: "+strings.ReplaceAll(p.Note.String(), "\n", ", "))
	}
	if p.Report != nil {
		lines = append(lines, "report: "+p.Report.Message)
	}
	for _, wait := range p.Waiting {
		lines = append(lines, wait.Line())
	}
	return strings.Join(lines, "\n")
}
