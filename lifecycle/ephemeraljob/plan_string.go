// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"strings"
)

// String says what the plan does and what waits, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	add := func(is bool, line string) {
		if is {
			lines = append(lines, line)
		}
	}
	add(p.AddFinalizer, "add the finalizer")
	for i, pod := range p.Inject {
		add(i == 0 && p.TryFirst, "ask by a dry run whether pod "+pod.Name+" may have the containers")
		lines = append(lines, "inject into pod "+pod.Name)
	}
	for _, w := range p.Waiting {
		lines = append(lines, w.Line())
	}
	for _, w := range p.Skipped {
		lines = append(lines, "leave out "+w.String())
	}
	if s := p.Status; s != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d matched, %d running, %d succeeded, %d failed, %d waiting", s.Matches, s.Running, s.Succeeded, s.Failed, s.Waiting))
	}
	add(p.RemoveFinalizer, "remove the finalizer")
	add(p.DeleteJob, "delete the job")
	for _, problem := range p.Problems {
		lines = append(lines, "problem: "+problem.Err.Error())
	}
	return strings.Join(lines, "\n")
}
