// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// envHashes are the hashes of the environments that pods of tests have.
var envHashes = map[string]uint64{"A=1": versionHash, "none": noEnvHash, "empty": emptyHash, "?": 0}

// TestPlans shows plans of pods, and whether a pod is "due" for a report or a restart. The argument no-env closes the gate. Lines are:
//
//	pod m1 s1; version 2       the IDs in the statuses of main and side, or "-", with changes
//	container main m1 1        one of the runtime, by its age; perhaps exited, hash=10, restarts=7
//	known m1 A=1               the environment of a container; "unreadable m1 2 4s" is one that could not be read twice, and is in 4 s
//	attempt m1 1 3s            how often it was to be stopped, and how long ago
//
// Changes of pods are "report main/m1/10/A=1" with what is reported, its hash and that of its environment, and words of testdata/words.yaml.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := &Snapshot{Runtime: "containerd", Now: now, Features: Features{NoEnvFromMetadata: d.HasArg("no-env")},
				Environments: map[string]Environment{}, Attempts: map[string]Attempt{}}
			for line := range strings.Lines(d.Input) {
				s.read(t, strings.Split(strings.TrimSpace(line), "; "))
			}
			if d.Cmd == "due" {
				return fmt.Sprintf("report %t, restart %t\n", reportDue(s.Pod, s.Features), restartDue(s.Pod, s.Features))
			}
			return showPlan(NewPlan(s))
		})
	})
}

func showPlan(plan *Plan) string {
	var lines []string
	if plan.Report != nil {
		for _, c := range plan.Report.Containers {
			line := fmt.Sprintf("report %s %s, restarts %d, hash %x, environment", c.Name, c.ContainerID, c.RestartCount, c.Hashes.PlainHash)
			for name, hash := range envHashes {
				if hash == c.Hashes.ExtractedEnvFromMetadataHash {
					line += " " + name
				}
			}
			lines = append(lines, line)
		}
	}
	for _, id := range plan.Read {
		lines = append(lines, "read "+id)
	}
	for _, r := range plan.Restarts {
		lines = append(lines, "restart "+r.Container+" "+r.ID)
	}
	for _, waiting := range plan.Waiting {
		lines = append(lines, "waits: "+waiting.Name+": "+waiting.Reason.String())
	}
	if plan.RequeueAfter > 0 {
		lines = append(lines, "again after "+plan.RequeueAfter.String())
	}
	return strings.Join(append(lines, ""), "\n")
}

// read reads a line.
func (s *Snapshot) read(t *testing.T, parts []string) {
	t.Helper()
	switch line := strings.Fields(parts[0]); line[0] {
	case "pod":
		pod := running(newPod("web-0"), line[1:]...)
		var changes []string
		for _, change := range parts[1:] {
			reports, is := strings.CutPrefix(change, "report ")
			if !is {
				changes = append(changes, patches.Phrases(change)...)
				continue
			}
			var entries []inplacev1alpha1.RuntimeContainer
			for entry := range strings.FieldsSeq(reports) {
				of := strings.Split(entry, "/")
				hash, err := strconv.ParseUint(of[2], 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				entries = append(entries, reportedAs(of[0], of[1], hash, envHashes[of[3]]))
			}
			report(pod, entries...)
		}
		s.Pod = patches.Changed(words, pod, changes...)
	case "container":
		s.Containers = append(s.Containers, created(line[1], line[2], int64(patches.Number(t, line[3])), line[4:]...))
	case "known":
		s.Environments[line[1]] = known(line[1], line[2:]...)[line[1]]
	case "unreadable":
		s.Environments[line[1]] = Environment{Err: errors.New("no env"), Failures: patches.Number(t, line[2]), RetryAt: now.Add(patches.Duration(t, line[3]))}
	case "attempt":
		s.Attempts[line[1]] = Attempt{Count: patches.Number(t, line[2]), Last: now.Add(-patches.Duration(t, line[3]))}
	default:
		t.Fatalf("unknown line %q", parts)
	}
}

func TestRetryAfter(t *testing.T) {
	got := []time.Duration{retryAfter(-1), retryAfter(0), retryAfter(1), retryAfter(2), retryAfter(7), retryAfter(8), retryAfter(1000)}
	want := []time.Duration{3 * time.Second, 3 * time.Second, 6 * time.Second, 12 * time.Second, 384 * time.Second, 10 * time.Minute, 10 * time.Minute}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if plan := NewPlan(s); !reflect.DeepEqual(plan, &Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
