// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/nodeagent"
)

// TestPlans shows what the agent does about the requests of a pod, and what it waits for. Each line that follows a command is a
// request with its changes, which are those of testdata/words.yaml, or what the runtime has:
//
//	node main m1; side s1 EXITED   containers, of which later ones are newer; the first line
//	started m2 4s                  since when one runs
//	label side|sandbox key value, annotate sandbox key value, hook {}, unlabel main, no-sandbox, away
//
// The command "late" shows the answer to a request that has not begun. "grace" shows how long the container main may take to stop, and which it is.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := running()
			for line := range strings.Lines(d.Input) {
				name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				if name == "node" {
					s = running(strings.FieldsFunc(rest, func(r rune) bool { return r == ';' })...)
				} else if !s.change(t, name, strings.Fields(rest)) {
					s.Requests = append(s.Requests, newRequest(name, patches.Phrases(rest)...))
				}
			}
			before, _ := json.Marshal(s.Requests)
			defer func() {
				if after, _ := json.Marshal(s.Requests); string(after) != string(before) {
					t.Errorf("%s: the plan has changed the requests to %s", d.Pos, after)
				}
			}()
			switch d.Cmd {
			case "late":
				return s.showLate()
			case "grace":
				stop, err := s.toStop(&Stop{Container: "main", ID: "m1"})
				return fmt.Sprintf("%d s, hook %t, ID %s, sandbox %s, error %v\n", stop.GraceSeconds, stop.PreStop != nil, stop.ID, stop.SandboxID, err)
			}
			return showAll(NewPlan(s))
		})
	})
}

// showAll shows what a plan does, and what it waits for.
func showAll(p *Plan) string {
	lines := show(p)
	for _, wait := range p.Waiting {
		line := "waits: " + wait.String()
		if wait.Reason.Rule == "" || wait.Since.After(now) {
			line += fmt.Sprintf(", by the rule %q since %s", wait.Reason.Rule, wait.Since)
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, ""), "\n")
}

// showLate shows the answer to a request that the agent has not begun.
func (s *Snapshot) showLate() (out string) {
	s.Stopping = "shop (3)"
	if ago, err := time.ParseDuration(s.Requests[0].Annotations["turn"]); err == nil {
		s.Seen = map[types.UID]Seen{s.Requests[0].UID: {Request: now.Add(-time.Hour), Turn: now.Add(-ago)}}
	}
	answer, again := s.late()
	if answer != nil {
		out = showWrite(answer) + "\n"
	}
	if again > 0 {
		out += fmt.Sprintf("again after %s\n", again)
	}
	return out
}

// change changes what the runtime has. It returns false if a line is not about that.
func (s *Snapshot) change(t *testing.T, what string, args []string) bool {
	t.Helper()
	switch what {
	case "started":
		s.Started = map[string]time.Time{args[0]: now.Add(-patches.Duration(t, args[1]))}
	case "label":
		if args[0] == "sandbox" {
			s.Sandbox.Labels[args[1]] = args[2]
		} else {
			s.Containers[1].Labels[args[1]] = args[2]
		}
	case "annotate":
		s.Sandbox.Annotations = map[string]string{args[1]: args[2]}
	case "hook":
		s.Containers[0].Annotations = map[string]string{nodeagent.PreStopAnnotation: args[0]}
	case "unlabel":
		s.Containers[0].Labels = nil
	case "no-sandbox":
		s.Sandbox = nil
	case "away":
		s.Sandbox, s.RuntimeErr = nil, errors.New("gone")
	default:
		return false
	}
	return true
}

func TestNothingToPlanFor(t *testing.T) {
	if diff := cmp.Diff(&Plan{}, NewPlan(nil)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}
