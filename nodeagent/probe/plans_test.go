// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestPlans shows the plans of snapshots. Each line that follows a plan tells what there is:
//
//	ask web-0 idle        a probe that is asked for, with words of testdata/words.yaml
//	says web-0 idle X     a state that is reported of it, a minute ago
//	told 4s               how long ago the last one was
//	reports secret        what the first one says
//	hidden                the first probe hides its output from the next generation on
//	seen 6                the generation that is reported, and "generation 7" that of the spec
//	knows web-0 idle      what the agent knows of a probe, with words of that file
//
// Arguments are numbers of the node: running, and the limits concurrency, probes and per-second; paced=250ms from now;
// and by how much the clock differs.
func TestPlans(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := &Snapshot{Began: now.Add(-time.Hour), Now: now}
		for _, a := range d.CmdArgs {
			switch value := a.Vals[0]; a.Key {
			case "running":
				s.Running = patches.Number(t, value)
			case "concurrency":
				s.Limits.Concurrency = patches.Number(t, value)
			case "probes":
				s.Limits.Probes = patches.Number(t, value)
			case "per-second":
				s.Limits.PerSecond = patches.Number(t, value)
			case "clock":
				s.Now = now.Add(patches.Duration(t, value))
			case "paced":
				s.Paced = now.Add(patches.Duration(t, value))
			}
		}
		if d.Cmd == "plan" {
			s.NodePodProbe = newNodePodProbe()
		}
		for line := range strings.Lines(d.Input) {
			words := strings.Fields(line)
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "_", " ")
			}
			if words[0] == "knows" {
				s.Probes = append(s.Probes, knows(words[1], words[2], words[3:]...))
			} else {
				there(t, words)(s.NodePodProbe)
			}
		}
		plan := NewPlan(s)
		lines := shown(plan)
		if s.Limits.PerSecond > 0 {
			lines = append(lines, fmt.Sprint("paced for ", plan.Paced.Sub(now)))
		}
		return strings.Join(append(lines, ""), "\n")
	})
}

// there is what a line says of the NodePodProbe.
func there(t *testing.T, said []string) change {
	t.Helper()
	switch said[0] {
	case "ask":
		return wants(said[1], said[2], said[3:]...)
	case "says":
		return says(said[1], said[2], v1alpha1.ProbeState(said[3]))
	case "told":
		return told(patches.Duration(t, said[1]))
	}
	return func(n *v1alpha1.NodePodProbe) { *n = *patches.Changed(words, n, strings.Join(said, "=")) }
}

// PPM-4.2: the probes of a node do not all run at once when the agent starts.
func TestSpreadAtTheStart(t *testing.T) {
	n := newNodePodProbe()
	for i := range 100 {
		wants(fmt.Sprint("web-", i), "idle")(n)
	}
	s := &Snapshot{NodePodProbe: n, Began: now.Add(-time.Second), Now: now, Limits: Limits{Concurrency: 100, PerSecond: 1000}}
	plan := NewPlan(s)
	var tenths [10]int
	for _, p := range plan.Begin {
		tenths[p.First.Sub(now)/time.Second]++
	}
	for i, n := range tenths {
		if n < 2 || n > 25 {
			t.Errorf("%d of 100 probes begin in second %d: %v", n, i, tenths)
		}
	}
}

func TestNothingToPlanFor(t *testing.T) {
	if got := shown(NewPlan(nil)); len(got) > 0 {
		t.Errorf("plan %v, want none", got)
	}
}
