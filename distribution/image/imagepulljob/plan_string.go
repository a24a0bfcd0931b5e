// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"strings"
)

// String says what the plan does and what waits, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	for _, name := range p.Copy {
		lines = append(lines, "copy pull secret "+name)
	}
	for i := range p.Assign {
		lines = append(lines, "have node "+p.Assign[i].NodeImage.Name+" pull")
	}
	for _, w := range p.Waiting {
		lines = append(lines, w.Line())
	}
	if s := p.Status; s != nil {
		lines = append(lines, fmt.Sprintf("write the status: %d desired, %d active, %d succeeded, %d failed", s.Desired, s.Active, s.Succeeded, s.Failed))
	}
	for _, secret := range p.Release {
		lines = append(lines, "release the copy "+secret.Name)
	}
	if p.RemoveFinalizer {
		lines = append(lines, "remove the finalizer")
	}
	if p.Delete {
		lines = append(lines, "delete the job")
	}
	for _, held := range p.HeldTexts {
		lines = append(lines, "held up: "+held)
	}
	for _, problem := range p.Problems {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}
