// SPDX-License-Identifier: Apache-2.0

package recreate

import "strings"

// String says what the plan does, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	if p.Confirm {
		lines = append(lines, "ask the API server for the pod, and plan anew")
	}
	for _, step := range p.Steps {
		lines = append(lines, step.does()+": "+step.Why)
	}
	for _, wait := range p.Waiting {
		lines = append(lines, wait.Line())
	}
	return strings.Join(lines, "\n")
}

// does says what a step writes.
func (s *Step) does() string {
	switch {
	case s.Status != nil:
		return "write the status"
	case s.Change != nil:
		return "change the request"
	case s.Pod != nil:
		return "patch the pod (" + strings.ReplaceAll(s.Pod.String(), "\n", ", ") + ")"
	}
	return "delete the request"
}
