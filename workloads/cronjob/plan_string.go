// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"strings"
	"time"
)

// String says what the plan does, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	if p.Schedule != "" {
		lines = append(lines, "note the schedule: "+p.Schedule)
	}
	if !p.Created.IsZero() {
		lines = append(lines, "note that the job of "+p.Created.Format(time.RFC3339)+" is there, which was refused")
	}
	for _, c := range p.Release {
		lines = append(lines, "give "+c.Reference.Name+" its time to live")
	}
	for _, c := range p.Replace {
		lines = append(lines, "delete "+c.Reference.Name+", which is replaced")
	}
	if p.Start != nil {
		job, _ := p.Start.object()
		lines = append(lines, "create "+job.GetName()+" for "+p.Start.Scheduled.Format(time.RFC3339))
		if p.Start.WallClock != "" {
			lines = append(lines, p.Start.WallClock)
		}
	}
	for _, c := range p.Clean {
		lines = append(lines, "delete "+c.Reference.Name+", which has "+strings.ToLower(string(c.State)))
	}
	if p.Status != nil {
		lines = append(lines, "write the status")
	}
	for _, wait := range p.Waiting {
		lines = append(lines, wait.Line())
	}
	for _, problem := range p.Problems {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}
