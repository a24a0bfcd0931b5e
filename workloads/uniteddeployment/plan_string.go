// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"strings"
)

// String says what the plan does, one thing a line; empty for nothing. What a subset is to
// have is not among it.
func (p *Plan) String() string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if p.Revisions.Any() {
		lines = append(lines, strings.Split(p.Revisions.String(), "\n")[1:]...)
	}
	for _, c := range p.Adopt {
		say("adopt %s %s for %s", c.Kind, c.Object.GetName(), c.Subset)
	}
	for _, c := range p.Release {
		say("release %s %s", c.Kind, c.Object.GetName())
	}
	for _, c := range p.Create {
		subset := p.subset(c.Subset)
		say("create %s %s for %s with %d pods", c.Kind, c.Object.GetName(), c.Subset, subset.Replicas)
	}
	for _, c := range p.Delete {
		say("delete %s %s", c.Kind, c.Object.GetName())
	}
	for _, u := range p.Update {
		what := "scale"
		if u.Wanted != nil {
			what = "update"
		}
		say("%s %s %s of %s: %d pods, partition %d", what, u.Child.Kind, u.Child.Object.GetName(), u.Child.Subset, u.Replicas, u.Partition)
	}
	for _, pod := range p.DeletePods {
		say("delete pod %s, which keeps the update from going on", pod.Name)
	}
	for _, pod := range p.Reserve {
		say("mark pod %s as reserved", pod.Name)
	}
	for _, pod := range p.Unreserve {
		say("unmark pod %s", pod.Name)
	}
	for _, problem := range p.Problems {
		say("problem: %v", problem.Err)
	}
	return strings.Join(lines, "\n")
}

// subset finds a subset by name.
func (p *Plan) subset(name string) SubsetPlan {
	for _, s := range p.Subsets {
		if s.Name == name {
			return s
		}
	}
	return SubsetPlan{}
}
